/** Any text made storable in PostgreSQL: no NUL, no lone surrogate. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** The JSON text of a value, with the texts in it made storable. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'string' ? storable(one) : one));
}
