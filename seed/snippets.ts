import { logNormal, within } from './random.ts';
import { textOf } from './texts.ts';

/** The texts of a day: questions first and as many answers behind them, of which each row names one of either kind. */

export interface Snippets {
  /** How many there are of either kind. */
  readonly each: number;
  readonly texts: readonly string[];
}

/** @param rows that are going to be made of them */
export function makeSnippets(rows: number): Snippets {
  const each = within(rows, 1, eachMax);
  const questions = Array.from({ length: each }, () =>
    textOf(within(logNormal(190, 0.5), 150, 1_750)),
  );
  const answers = Array.from({ length: each }, () =>
    textOf(within(logNormal(280, 0.55), 200, 1_800)),
  );
  return { each, texts: [...questions, ...answers] };
}

/** Every day has its own, so this is enough for hundreds of thousands of different ones. */
const eachMax = 4_096;
