/** Any text made storable in PostgreSQL: no NUL, no lone surrogate. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
