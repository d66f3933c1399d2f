import { type Phrase, readSearch, separators, standalone } from './search.ts';

/**
 * The tokens under which the search index finds a text: numbers, so that the index depends on no locale, dictionary or word length.
 *
 * A token is a word, or one or two neighbouring characters of a script without blanks. Whatever a search matches has all its
 * tokens; the reverse does not hold (word order, hash collisions), so that a search reads the texts too.
 */

/** A set of tokens that a record must have to match; it matches if it has all of one set. */
export type TokenSets = readonly (readonly number[])[];

/** The tokens of a text. */
export function tokensOf(text: string): Set<number> {
  const tokens = new Set<number>();
  const read = normalize(text);
  /** Where the current word begins; -1 between words. */
  let wordAt = -1;
  /** Where the standalone character before this one begins; -1 if there is none. */
  let previousAt = -1;
  for (let at = 0; at < read.length; ) {
    const end = at + lengthAt(read, at);
    const kind = kindAt(read, at, end);
    if (kind === inWord) {
      if (wordAt === -1) wordAt = at;
    } else if (wordAt !== -1) {
      addWord(tokens, read, wordAt, at);
      wordAt = -1;
    }
    if (kind === alone) {
      tokens.add(hash(read, at, end));
      if (previousAt !== -1) tokens.add(hash(read, previousAt, end));
    }
    previousAt = kind === alone ? at : -1;
    at = end;
  }
  if (wordAt !== -1) addWord(tokens, read, wordAt, read.length);
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
  const text = `${kind} ${id}`;
  return hash(text, 0, text.length);
}

/** Both cases and all spellings of a letter that a search treats as equal become one. */
function normalize(text: string): string {
  return isAscii.test(text)
    ? text.toUpperCase()
    : text.normalize('NFD').toLowerCase().toUpperCase().normalize('NFD');
}

/** No letter beyond ASCII. */
const isAscii = /^[\t\n\r -~]*$/;

function addWord(tokens: Set<number>, text: string, from: number, to: number): void {
  tokens.add(hash(text, from, to));
  // A version is also found without its v.
  const isVersion = text[from] === 'V' && /[0-9]/.test(text[from + 1] ?? '');
  if (isVersion) tokens.add(hash(text, from + 1, to));
}

function lengthAt(text: string, at: number): 1 | 2 {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 ? 2 : 1;
}

const [unknown, inWord, between, alone] = [0, 1, 2, 3];
/** By UTF-16 unit, as far as they are known. */
const kinds = new Uint8Array(0x10000);
/** The private-use character between output and variables separates too. */
const separates = new RegExp(`[\\0\\ue000${separators}]`, 'u');
const standsAlone = new RegExp(`[${standalone}]`, 'u');

function kindAt(text: string, from: number, to: number): number {
  const unit = text.charCodeAt(from);
  const known = to === from + 1 ? (kinds[unit] ?? unknown) : unknown;
  if (known !== unknown) return known;
  const character = text.slice(from, to);
  const kind = separates.test(character) ? between : standsAlone.test(character) ? alone : inWord;
  if (to === from + 1) kinds[unit] = kind;
  return kind;
}

/** FNV-1a over UTF-16 units, as a signed integer of 32 bits. */
function hash(text: string, from: number, to: number): number {
  let value = 0x811c9dc5;
  for (let at = from; at < to; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value | 0;
}
