import type { CallAdditions } from '../agent/conversation.ts';
import { type PromptSize, sizeOfCall, type TemplateSize } from '../agent/prompt-size.ts';
import { defaultTexts, suppliedTexts } from '../agent/variables.ts';
import { computeJob } from '../compute.ts';

/**
 * How long the prompt of a call is, for its bound. Long variables and lists of messages take long, so calls are measured before
 * admission locks rows, or in a thread. Admission uses the result only if the locked agent still has the same prompt.
 */
export interface SizeQuestion {
  /** A version never changes. */
  readonly versionId: string;
  /** The variables, with references to their files. */
  readonly json: string;
  /** The default values of the agent as JSON. */
  readonly defaults: string;
  readonly additions: CallAdditions | null;
  /** The schema of the output, or the format with that schema, as JSON; null for a text. */
  readonly schema: string | null;
}

export interface MeasuredCall {
  readonly question: SizeQuestion;
  readonly size: PromptSize;
}

/** What a caller adds follows from the call and from the version. */
export function isSameSize(one: SizeQuestion, other: SizeQuestion): boolean {
  return (
    one.versionId === other.versionId &&
    one.json === other.json &&
    one.defaults === other.defaults &&
    one.schema === other.schema &&
    one.additions?.reasoning?.list === other.additions?.reasoning?.list
  );
}

export function measureCall({
  template,
  question: { json, defaults, additions, schema },
}: {
  readonly template: TemplateSize;
  readonly question: SizeQuestion;
}): PromptSize {
  const names = [template.texts, template.lists, template.files].flatMap((uses) => [
    ...uses.keys(),
  ]);
  const texts = new Map([
    ...defaultTexts(JSON.parse(defaults)),
    ...suppliedTexts(json, undefined, names),
  ]);
  return sizeOfCall(template, { texts, additions, schema });
}

export const measureCallJob = computeJob(import.meta.url, measureCall);
