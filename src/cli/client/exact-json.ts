/** JSON whose numbers stay the text that they are: 9007199254740993 is another as a double. */

/** TypeScript does not know of these yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};

/** Whether this is a number that JavaScript would write otherwise. All others are plain numbers. */
export const isExactNumber = isRawJSON;

export function parse(text: string): unknown {
  return JSON.parse(text, (_: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
      ? rawJSON(context.source)
      : value,
  );
}
