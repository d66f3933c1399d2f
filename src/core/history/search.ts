/**
 * What a search for words asks for. A word is what stands between blanks and punctuation, in what is asked for as in the
 * text, so that `A-1017` is two words that follow each other, and so is `acme.io`.
 */

/** Words that must follow each other in the text, or must not stand in it so. */
export interface Phrase {
  readonly words: readonly string[];
  readonly excluded: boolean;
}

/** Alternatives, of which one must hold with all its phrases. None where nothing that was typed is a word. */
export type Search = readonly (readonly Phrase[])[];

/**
 * What parts words, as the inside of a class that JavaScript (with `u`) and PostgreSQL read alike: of ASCII all but letters
 * and digits, and the blanks, punctuation and signs of other scripts. Whether PostgreSQL knows the latter depends on the locale
 * of its database, so they are named. Joiners (U+200C, U+200D) stand within words.
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
 * In the same way, what is found in the midst of others: pictures, and letters of scripts that put no blanks between words,
 * or endings onto them, from Thai to Burmese, of Chinese, Japanese and Korean. Beyond U+FFFF each names its own escapes, so
 * these are written as they are.
 */
export const standalone = [
  String.raw`\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2600-\u27bf\u2b00-\u2bff\u3004-\u3007\u3012\u3013`,
  String.raw`\u3020-\u302f\u3031-\u30fa\u30fc-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc`,
  '\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}',
].join('');

/** As people type it in search engines: `"…"` is a phrase, `or` parts alternatives, `-` in front excludes. */
export function readSearch(text: string): Search {
  const alternatives: Phrase[][] = [];
  const terms = [...text.normalize('NFC').matchAll(term)]
    .map(readTerm)
    .filter(({ words }) => words.length > 0);
  for (const [at, { isOr, ...phrase }] of terms.entries()) {
    const current = alternatives.at(-1);
    if (current === undefined) alternatives.push([phrase]);
    // Where it has nothing to part it is a word like any other.
    else if (isOr && current.length > 0 && at < terms.length - 1) alternatives.push([]);
    else current.push(phrase);
  }
  return alternatives;
}

/** In quotes, of which the last may be missing, or up to the next blank or quote. */
const term = /(-?)"([^"]*)"?|[^\s"]+/g;
/** Nothing that is stored holds a NUL either. */
const apart = new RegExp(`[\\0${separators}]+`, 'u');

function readTerm([whole, minus, quoted]: RegExpExecArray): Phrase & { readonly isOr: boolean } {
  return {
    words: (quoted ?? whole).split(apart).filter((word) => word !== ''),
    // Of two, as before an option, neither excludes.
    excluded: quoted === undefined ? /^-(?!-)/.test(whole) : minus === '-',
    isOr: whole.toLowerCase() === 'or',
  };
}
