import { ExactNumber, parse } from './exact-json.ts';

/** Parses a JSON object; null if the text is anything else. */
export function parseJsonObject(text: string): Record<string, unknown> | null {
  try {
    const value = parse(text);
    const isNone = Array.isArray(value) || value instanceof ExactNumber;
    return typeof value === 'object' && value !== null && !isNone
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** The values as texts for a form with these fields; null if the form cannot hold all of them. */
export function toTextValues(
  object: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, string> | null {
  const all = Object.entries(object);
  const fits = all.every(([name, value]) => typeof value === 'string' && names.includes(name));
  return fits ? (Object.fromEntries(all) as Record<string, string>) : null;
}
