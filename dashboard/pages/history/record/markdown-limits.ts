/** The parser takes seconds for more. */
const lengthMax = 50_000;

/** A line that opens 50 quotes or lists: the parser needs quadratic time for them, and overflows the stack for thousands. */
const nestedDeeply = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){50}/m;

/** Whether a browser can render the text as Markdown without being blocked by it. */
export function rendersQuickly(text: string): boolean {
  return text.length <= lengthMax && !nestedDeeply.test(text);
}
