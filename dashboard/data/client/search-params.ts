/** Search parameters of list pages. Invalid values are dropped. */

export function readOffset(given: Readonly<Record<string, unknown>>): { readonly offset?: number } {
  const offset = Number(given.offset);
  return Number.isSafeInteger(offset) && offset > 0 ? { offset } : {};
}

/** Parses one search parameter. Values that `toText` could not write back unchanged stay text. */
export function parseSearchValue(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return typeof value === 'string' || JSON.stringify(value) === text ? value : text;
}

/** Turns a parsed parameter back into text: the router reads `42` as a number and `{}` as an object. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
