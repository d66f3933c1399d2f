import { type Phrase, readSearch, separators, standalone } from './search.ts';

/**
 * The tokens under which the search index finds a text: numbers, so that the index depends on no locale, dictionary or word length.
 *
 * A token is a word, or one or two neighbouring characters of a script without blanks. Whatever a search matches has all its
 * tokens; the reverse does not hold (word order, hash collisions), so that whoever asks the index looks at the texts too.
 */

/** A set of tokens that a record must have to match; it matches if it has all of one set. */
export type TokenSets = readonly (readonly number[])[];

/** The tokens of a text. */
export function tokensOf(text: string): Set<number> {
  const tokens = new Set<number>();
  for (const word of normalize(text).split(separator)) addWord(tokens, word);
  return tokens;
}

/** The tokens that a search requires; null if it also finds texts that have none, by excluding words only. */
export function tokensOfSearch(words: string): TokenSets | null {
  const sets = readSearch(words).map((phrases) => tokensOfPhrases(phrases));
  return sets.every((set) => set.length > 0) ? sets : null;
}

function tokensOfPhrases(phrases: readonly Phrase[]): number[] {
  const texts = phrases.filter(({ excluded }) => !excluded).map(({ words }) => words.join(' '));
  return [...tokensOf(texts.join('\n'))];
}

/** The token of a record, an agent or a workspace. No word contains a blank, so it is none of a text. */
export function tokenOf(kind: 'execution' | 'agent' | 'cut', id: string): number {
  return hash(`${kind} ${id}`);
}

/** Both cases and all spellings of a letter that a search treats as equal become one. */
function normalize(text: string): string {
  return text.normalize('NFD').toLowerCase().toUpperCase().normalize('NFD');
}

function addWord(tokens: Set<number>, word: string): void {
  for (const part of word.split(run)) {
    if (part === '') continue;
    if (!startsStandalone.test(part)) {
      tokens.add(hash(part));
      // A version is also found without its v.
      if (/^V[0-9]/.test(part)) tokens.add(hash(part.slice(1)));
      continue;
    }
    let previous = '';
    for (const character of part) {
      tokens.add(hash(character));
      if (previous !== '') tokens.add(hash(previous + character));
      previous = character;
    }
  }
}

/** NUL and the private-use character between output and variables separate too. */
const separator = new RegExp(`[\\0\\ue000${separators}]+`, 'u');
const run = new RegExp(`([${standalone}]+)`, 'u');
const startsStandalone = new RegExp(`^[${standalone}]`, 'u');

/** FNV-1a over UTF-16 units, as a signed integer of 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value | 0;
}
