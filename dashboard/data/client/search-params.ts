/** What stands in the address of a list, as it was meant. What makes no sense is left out. */

export function readOffset(given: Readonly<Record<string, unknown>>): { readonly offset?: number } {
  const offset = Number(given.offset);
  return Number.isSafeInteger(offset) && offset > 0 ? { offset } : {};
}

/** What the router makes of a part of the address: nothing that `asText` would write otherwise than it stands there. */
export function readValue(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return typeof value === 'string' || JSON.stringify(value) === text ? value : text;
}

/** The router reads `42` as a number and `{}` as an object; the filter means the text. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
