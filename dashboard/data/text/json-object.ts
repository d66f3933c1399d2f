import { ExactNumber, parse } from './exact-json.ts';

/** The JSON object that a text is; null where it is none. */
export function objectOf(text: string): Record<string, unknown> | null {
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

/** The same where a form of these fields can hold all of it: texts, and no other names. */
export function textsOf(
  object: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, string> | null {
  const all = Object.entries(object);
  const fits = all.every(([name, value]) => typeof value === 'string' && names.includes(name));
  return fits ? (Object.fromEntries(all) as Record<string, string>) : null;
}
