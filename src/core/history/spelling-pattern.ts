/**
 * Unicode spells one letter in several ways. Stored text stays as it was sent; matching every spelling is faster than
 * normalizing each text.
 */

/** Computed at the first search, so that start-up does not wait for it. */
let known: Spellings | undefined;

interface Spellings {
  /** Letters that NFC decomposes or replaces, by what it turns them into. */
  readonly replacedByNfc: ReadonlyMap<string, readonly string[]>;
  /** Splits a word into letters. */
  readonly letters: RegExp;
}

function spellings(): Spellings {
  const replacedByNfc = Map.groupBy(
    Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
      (one) => one.isWellFormed() && one.normalize('NFC') !== one,
    ),
    (one) => one.normalize('NFC'),
  );
  const longestFirst = [...replacedByNfc.keys()].sort((a, b) => b.length - a.length);
  return { replacedByNfc, letters: new RegExp(`${longestFirst.join('|')}|.`, 'gsu') };
}

/** A word in NFC as a pattern that matches either case, with each accent composed or decomposed. */
export function patternOf(word: string): string {
  known ??= spellings();
  const { letters, replacedByNfc } = known;
  return (word.match(letters) ?? []).map((one) => patternOfLetter(one, replacedByNfc)).join('');
}

function patternOfLetter(letter: string, replacedByNfc: Spellings['replacedByNfc']): string {
  const cases = [letter, letter.toLowerCase(), letter.toUpperCase()];
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
  return [letter, decomposed, ...between];
}
