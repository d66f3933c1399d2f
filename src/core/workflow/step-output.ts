import { compact, depth, jsonDepthMax } from '../json.ts';

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
  return jsonWithin(JSON.parse(output) as string) ?? output;
}

/** The compact JSON in a text, without one code fence around it; null if it is not JSON. */
function jsonWithin(text: string): string | null {
  const inner = unfenced(text.trim());
  try {
    JSON.parse(inner);
  } catch {
    return null;
  }
  const json = compact(inner);
  return depth(json) > jsonDepthMax ? null : json;
}

/** No regular expression: it would scan long blanks repeatedly. */
function unfenced(text: string): string {
  const firstLine = text.indexOf('\n');
  const fenced =
    text.startsWith('```') && text.endsWith('```') && firstLine > 0 && text.length >= 7;
  if (!fenced || !/^```[\w-]*[ \t\r]*$/.test(text.slice(0, Math.min(firstLine, fenceMax))))
    return text;
  return text.slice(firstLine + 1, -3);
}

/** The maximum length of the opening fence line. */
const fenceMax = 64;
