import { type JsonInText, oneJsonIn, wholeJson } from '../json-in-text.ts';

/**
 * The output of a step, stored as JSON text: a string with exactly what the model wrote, or another value from a list
 * or a fallback. Model text is often JSON itself; readers parse it.
 */

/** The stored form of a model's text. */
export function outputOfText(text: string): string {
  return JSON.stringify(text);
}

/** The value of an output as compact JSON: the model's text parsed if it is JSON, else the output itself. */
export function withinOutput(output: string): string {
  if (!output.startsWith('"')) return output;
  return wholeJson(JSON.parse(output) as string) ?? output;
}

/** What references into an output read: the one object or array in the model's text, or the output itself. */
export function readInto(output: string): JsonInText {
  if (!output.startsWith('"')) return { kind: 'json', json: output, whole: true };
  return oneJsonIn(JSON.parse(output) as string);
}
