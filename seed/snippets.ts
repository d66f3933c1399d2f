import { logNormal, within } from './random.ts';
import { answers as answered, questions as asked, textOf } from './texts.ts';

/** Texts of a day: questions followed by as many answers. Each row references one of each. */

export interface Snippets {
  /** Number of texts of each kind. */
  readonly each: number;
  readonly texts: readonly string[];
}

/** @param rows number of rows that reference the texts */
export function makeSnippets(rows: number): Snippets {
  const each = within(rows, 1, eachMax);
  const questions = Array.from({ length: each }, () =>
    textOf(asked, within(logNormal(190, 0.5), 150, 1_750)),
  );
  const answers = Array.from({ length: each }, () =>
    textOf(answered, within(logNormal(280, 0.55), 200, 1_800)),
  );
  return { each, texts: [...questions, ...answers] };
}

/** Each day has its own texts, so this gives hundreds of thousands of different ones. */
const eachMax = 4_096;
