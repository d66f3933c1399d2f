/**
 * Searches in texts of which a stranger may have made the one for the other. The engine's own takes as long as the product
 * of both lengths then, and nothing ends it; this one, of Knuth, Morris and Pratt, goes through each once, and is
 * JavaScript, which can be ended.
 */

/** So few characters are looked for by the engine itself, in so many steps for each character of the text at most. */
const briefMax = 32;

/** As `includes`. */
export function holds(text: string, sought: string): boolean {
  if (sought.length <= briefMax) return text.includes(sought);
  return endsOf(text, sought).next().done === false;
}

/** As `replaceAll`. */
export function withEach(text: string, sought: string, replacement: string): string {
  if (sought.length <= briefMax) return text.replaceAll(sought, () => replacement);
  let out = '';
  let from = 0;
  for (const end of endsOf(text, sought)) {
    out += text.slice(from, end - sought.length) + replacement;
    from = end;
  }
  return out + text.slice(from);
}

/** Where what is sought ends, each time that it stands in the text; none of them overlap. */
function* endsOf(text: string, sought: string): Generator<number> {
  if (sought.length > text.length) return;
  const borders = bordersOf(sought);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    matched = nextMatch(sought, borders, matched, text.charCodeAt(at));
    if (matched < sought.length) continue;
    yield at + 1;
    matched = 0;
  }
}

/** For each beginning of a text, how long the longest of its own beginnings is that is also its end. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let matched = 0;
  for (let at = 1; at < text.length; at++) {
    matched = nextMatch(text, borders, matched, text.charCodeAt(at));
    borders[at] = matched;
  }
  return borders;
}

function nextMatch(sought: string, borders: Uint32Array, matched: number, code: number): number {
  let next = matched;
  while (next > 0 && sought.charCodeAt(next) !== code) next = borders[next - 1] ?? 0;
  return sought.charCodeAt(next) === code ? next + 1 : next;
}
