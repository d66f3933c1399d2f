/** So few characters are looked for by the engine itself, in so many steps for each character of the text at most. */
const briefMax = 32;

/**
 * Whether a text holds another one. The engine's own search takes as long as the product of both lengths, and nothing
 * ends it; this one, of Knuth, Morris and Pratt, goes through each once, and is JavaScript, which can be ended.
 */
export function holds(text: string, sought: string): boolean {
  if (sought.length <= briefMax) return text.includes(sought);
  if (sought.length > text.length) return false;
  const borders = bordersOf(sought);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    matched = nextMatch(sought, borders, matched, text.charCodeAt(at));
    if (matched === sought.length) return true;
  }
  return false;
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
