import { compact, depth, jsonDepthMax } from '../json.ts';

/**
 * What a step has put out, kept as JSON text: a string that holds exactly what the model wrote, or any other value where
 * a list or a fallback made it. What a model wrote is often JSON itself: whoever looks into it has it parsed.
 */

/** What a model wrote, as it is kept. */
export function outputOfText(text: string): string {
  return JSON.stringify(text);
}

/** The value within an output, as compact JSON: what the model wrote where that is JSON, else the output as it is. */
export function withinOutput(output: string): string {
  if (!output.startsWith('"')) return output;
  return jsonWithin(JSON.parse(output) as string) ?? output;
}

/** The compact JSON that a text consists of, one code fence around it taken off; null where it is none. */
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

/** Without a pattern, which would go over long blanks again and again. */
function unfenced(text: string): string {
  const firstLine = text.indexOf('\n');
  const fenced =
    text.startsWith('```') && text.endsWith('```') && firstLine > 0 && text.length >= 7;
  if (!fenced || !/^```[\w-]*[ \t\r]*$/.test(text.slice(0, Math.min(firstLine, fenceMax))))
    return text;
  return text.slice(firstLine + 1, -3);
}

/** The longest line that a fence may begin with. */
const fenceMax = 64;
