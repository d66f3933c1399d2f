import { ExactNumber, parse, stringify } from './exact-json.ts';

/** Others are compared as text: indentation turns a few kB of nested brackets into megabytes. */
const [charactersMax, depthMax] = [200_000, 32];

/**
 * An object or list in the form in which two of them are compared: indented, with the fields of objects in alphabetical order.
 * Null for any other text.
 */
export function sortedJson(text: string): string | null {
  if (text.length > charactersMax || !/^\s*[[{]/.test(text)) return null;
  try {
    return stringify(sorted(parse(text)), 2);
  } catch {
    return null;
  }
}

function sorted(value: unknown, depth = 0): unknown {
  if (depth > depthMax) throw new RangeError('nested too deeply');
  if (Array.isArray(value)) return value.map((one) => sorted(one, depth + 1));
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  const entries = Object.entries(value).map(([name, of]) => [name, sorted(of, depth + 1)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
