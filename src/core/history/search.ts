/**
 * Text search. Blanks and punctuation separate words, in the query as in the text: `A-1017` and `acme.io` are two
 * consecutive words each.
 */

/** Consecutive words that must (or must not) occur in the text. */
export interface Phrase {
  readonly words: readonly string[];
  readonly excluded: boolean;
}

/** Alternatives, one of which must match with all its phrases. Empty if the query contains no word. */
export type Search = readonly (readonly Phrase[])[];

/**
 * The word separators as a character class that JavaScript (with `u`) and PostgreSQL read alike: in ASCII everything
 * but letters and digits, plus blanks, punctuation and symbols of other scripts. They are listed because PostgreSQL's
 * own classes depend on the locale of its database. Joiners (U+200C, U+200D) belong to words.
 */
export const separators = [
  String.raw`\u0001-/:-@\[-\u0060{-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7`,
  String.raw`\u037e\u0387\u0589\u058a\u05be\u05c0\u05c3\u060c\u061b\u061f\u06d4\u0964\u0965\u1361-\u1368\u1680`,
  String.raw`\u1fef\u1ffd\u2000-\u200b\u200e-\u209c\u20a0-\u20cf\u20e3\u2100\u2101\u2103-\u2106\u2108\u2109\u2114`,
  String.raw`\u2116-\u2118\u211e-\u2123\u2125\u214a-\u214d\u214f-\u215f\u2189-\u25ff\u27c0-\u2aff\u2e00-\u2e7f`,
  String.raw`\u3000-\u3003\u3008-\u3011\u3014-\u301f\u3030\u30fb\ufe00-\ufe0f\ufe50-\ufe6b\ufeff`,
  String.raw`\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffe6`,
].join('');

/**
 * Characters that match inside other text, in the same notation: pictures, and letters of scripts that write no blanks
 * between words (Thai to Burmese, Chinese, Japanese, Korean). Beyond U+FFFF the two languages escape differently, so
 * those are written literally.
 */
export const standalone = [
  String.raw`\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2600-\u27bf\u2b00-\u2bff\u3004-\u3007\u3012\u3013`,
  String.raw`\u3020-\u302f\u3031-\u30fa\u30fc-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc`,
  '\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}',
].join('');

/**
 * Parses search syntax as in search engines: `"…"` is a phrase, `or` separates alternatives, a leading `-` excludes.
 */
export function readSearch(text: string): Search {
  const alternatives: Phrase[][] = [];
  const terms = [...text.normalize('NFC').matchAll(term)]
    .map(readTerm)
    .filter(({ words }) => words.length > 0);
  for (const [at, { isOr, ...phrase }] of terms.entries()) {
    const current = alternatives.at(-1);
    if (current === undefined) alternatives.push([phrase]);
    // Without an operand it is an ordinary word.
    else if (isOr && current.length > 0 && at < terms.length - 1) alternatives.push([]);
    else current.push(phrase);
  }
  return alternatives;
}

/** A quoted phrase (the last closing quote may be missing), or text up to the next blank or quote. */
const term = /(-?)"([^"]*)"?|[^\s"]+/g;
/** NUL separates too: stored text never contains it. */
const separator = new RegExp(`[\\0${separators}]+`, 'u');

function readTerm([whole, minus, quoted]: RegExpExecArray): Phrase & { readonly isOr: boolean } {
  return {
    words: (quoted ?? whole).split(separator).filter((word) => word !== ''),
    // Two signs, as before a command-line option, exclude nothing.
    excluded: quoted === undefined ? /^-(?!-)/.test(whole) : minus === '-',
    isOr: whole.toLowerCase() === 'or',
  };
}
