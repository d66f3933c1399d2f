/** Search parameters of list pages. Invalid values are dropped. */

/** The inverse of the client's `joinValues`, without empty and repeated values. */
export function splitValues(text: string): string[] {
  const values: string[] = [];
  let value = '';
  for (const [part] of text.matchAll(/\\[\\,]|,|[^\\,]+|\\/g)) {
    if (part === ',') {
      values.push(value);
      value = '';
    } else value += /\\[\\,]/.test(part) ? part.slice(1) : part;
  }
  return [...new Set([...values, value].filter((one) => one !== ''))];
}

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
