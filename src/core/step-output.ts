import { compact, depth, jsonDepthMax } from './json.ts';

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

const fence = /^\s*```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```\s*$/;

/** The compact JSON that a text consists of, one code fence around it taken off; null where it is none. */
function jsonWithin(text: string): string | null {
  const inner = fence.exec(text)?.[1] ?? text;
  try {
    JSON.parse(inner);
  } catch {
    return null;
  }
  const json = compact(inner);
  return depth(json) > jsonDepthMax ? null : json;
}
