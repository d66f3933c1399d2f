/** A text[] literal. PostgreSQL requires rectangular arrays of arrays, so each is sent as text. */
export function textArray(texts: readonly string[]): string {
  const quoted = texts.map((text) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  return `{${quoted.join(',')}}`;
}
