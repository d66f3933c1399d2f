/** A text as PostgreSQL can keep it, whoever wrote it: no NUL, no lone surrogate. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
