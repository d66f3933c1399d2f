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
 * and digits, and the blanks and punctuation of other scripts. Whether PostgreSQL knows the latter depends on the locale of
 * its database, so they are named. Joiners (U+200C, U+200D) stand within words.
 */
export const separators = [
  String.raw`\u0001-/:-@\[-\u0060{-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf`,
  String.raw`\u060c\u061b\u061f\u06d4\u0964\u0965\u1680\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f`,
  String.raw`\u3000-\u3003\u3008-\u3011\u3014-\u301f\u3030\u30fb\ufe50-\ufe6b\ufeff`,
  String.raw`\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65`,
].join('');

/** As people type it in search engines: `"…"` is a phrase, `or` parts alternatives, `-` in front excludes. */
export function readSearch(text: string): Search {
  const alternatives: Phrase[][] = [];
  const terms = [...text.matchAll(term)].map(readTerm).filter(({ words }) => words.length > 0);
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
