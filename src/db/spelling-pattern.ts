/**
 * Unicode spells one letter in several ways. Stored text stays as it was sent; matching every spelling is faster than
 * normalizing each text.
 */

/** Computed at the first search, so that start-up does not wait for it. */
let known: Spellings | undefined;

interface Spellings {
  /** Letters beyond ASCII with the same upper case, such as the three forms of sigma. */
  readonly sameUpperCase: ReadonlyMap<string, readonly string[]>;
  /** Letters that NFC decomposes or replaces, by what it turns them into. */
  readonly replacedByNfc: ReadonlyMap<string, readonly string[]>;
  /** Splits a word into letters. */
  readonly letters: RegExp;
}

function spellings(): Spellings {
  const characters = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
    (one) => one.isWellFormed(),
  );
  const replacedByNfc = Map.groupBy(
    characters.filter((one) => one.normalize('NFC') !== one),
    (one) => one.normalize('NFC'),
  );
  const sameUpperCase = Map.groupBy(
    characters.filter((one) => one.toUpperCase() > '\u007f'),
    (one) => one.toUpperCase(),
  );
  const longestFirst = [...replacedByNfc.keys()].sort((a, b) => b.length - a.length);
  return {
    replacedByNfc,
    sameUpperCase,
    letters: new RegExp(`${longestFirst.join('|')}|.`, 'gsu'),
  };
}

/** A word in NFC as a pattern that matches either case, with each accent composed or decomposed. */
export function patternOf(word: string): string {
  known ??= spellings();
  const { letters, ...by } = known;
  return (word.match(letters) ?? []).map((one) => patternOfLetter(one, by)).join('');
}

/** A part of a text as a pattern. It depends on no collation, so that every database finds the same. */
export function patternOfPart(part: string): string {
  const pieces = part.normalize('NFC').split(/([\\^$.*+?()[\]{}|])/);
  return pieces.map((piece, at) => (at % 2 === 1 ? `\\${piece}` : patternOf(piece))).join('');
}

function patternOfLetter(
  letter: string,
  { replacedByNfc, sameUpperCase }: Omit<Spellings, 'letters'>,
): string {
  const upper = letter.toUpperCase();
  const cases = [letter, letter.toLowerCase(), upper, ...(sameUpperCase.get(upper) ?? [])];
  const forms = new Set(
    cases.flatMap((one) => [...spellingsOf(one), ...(replacedByNfc.get(one) ?? [])]),
  );
  return forms.size === 1 ? letter : `(?:${[...forms].join('|')})`;
}

function spellingsOf(letter: string): string[] {
  const decomposed = letter.normalize('NFD');
  const [base = '', first = '', second = '', third] = decomposed;
  const between =
    second !== '' && third === undefined
      ? [(base + first).normalize('NFC') + second, (base + second).normalize('NFC') + first]
      : [];
  // Marks at the same place of a letter have a fixed order.
  const equal = between.filter((one) => one.normalize('NFD') === decomposed);
  return [letter, decomposed, ...equal];
}
