/** The pieces of a text, none of which cuts a surrogate pair. */
export function piecesOf(text: string, charsMax: number): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = pieceEnd(text, from, charsMax);
    pieces.push(text.slice(from, end));
    from = end;
  }
  return pieces;
}

/** Where the piece of a text ends that begins at `from`. */
export function pieceEnd(text: string, from: number, charsMax: number): number {
  const end = from + charsMax;
  if (end >= text.length) return text.length;
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
}
