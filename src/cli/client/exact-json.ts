/** JSON that preserves the text of numbers. 9007199254740993, for example, is not a double. */

/** Missing in TypeScript's types. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};

/**
 * Whether this is a number that JavaScript would print differently. Other numbers are plain
 * numbers.
 */
export const isExactNumber = isRawJSON;

export function parse(text: string): unknown {
  return JSON.parse(text, (_: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
      ? rawJSON(context.source)
      : value,
  );
}
