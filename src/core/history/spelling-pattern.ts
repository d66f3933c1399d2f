/**
 * How Unicode spells one letter in several ways. What was stored stands as it was sent, and to bring each text into one form
 * takes longer than to look for all of them.
 */

/** What is computed of all letters, at the first search: no process must wait for it to start. */
let known: Spellings | undefined;

interface Spellings {
  /** Letters that NFC takes apart or replaces, by what it makes of them. */
  readonly replacedByNfc: ReadonlyMap<string, readonly string[]>;
  /** Takes a word apart into letters. */
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

/** A word in NFC as a pattern that finds it in either case, with each accent within its letter or behind it. */
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
  const apart = letter.normalize('NFD');
  const [base = '', first = '', second = '', third] = apart;
  const between =
    second !== '' && third === undefined
      ? [(base + first).normalize('NFC') + second, (base + second).normalize('NFC') + first]
      : [];
  return [letter, apart, ...between];
}
