import { randomHex } from './random.ts';

/**
 * JSON as it was sent. `JSON.parse` loses the order of number-like names and the text of numbers, both of which belong
 * to the caller. After it has validated the syntax, these functions scan the text itself.
 */

export const jsonDepthMax = 128;

const blank = new Set([' ', '\t', '\n', '\r']);
const separators = new Set([...blank, ',', ':']);
const brackets = new Set(['[', ']', '{', '}']);

/** One member of an object: its decoded name and the compact text of its value. */
export interface Member {
  readonly name: string;
  readonly text: string;
}

/** With the index of its value in the object. */
export interface PlacedMember extends Member {
  readonly at: number;
}

/** The text without blanks between tokens. `text` must be valid JSON. */
export function compact(text: string): string {
  let out = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === '"') at = stringEnd(text, at) - 1;
    else if (blank.has(letter)) {
      out += text.slice(from, at);
      from = at + 1;
    }
  }
  return out + text.slice(from);
}

/** The members of a compact object in the order sent; a name sent twice occurs twice. */
export function members(object: string): PlacedMember[] {
  return membersAndDepth(object).members;
}

/** The members, and the nesting depth of the object as `depth` counts it, in one scan. */
export function membersAndDepth(object: string): { members: PlacedMember[]; depth: number } {
  const found: PlacedMember[] = [];
  const nesting: Nesting = { deepest: 0 };
  let at = 1;
  while (at < object.length - 1) {
    const nameEnd = stringEnd(object, at);
    const end = valueEnd(object, nameEnd + 1, nesting);
    found.push({
      name: JSON.parse(object.slice(at, nameEnd)) as string,
      text: object.slice(nameEnd + 1, end),
      at: nameEnd + 1,
    });
    at = end + 1;
  }
  return { members: found, depth: nesting.deepest + 1 };
}

/** The elements of a compact array, as compact texts. */
export function elements(array: string): string[] {
  const found: string[] = [];
  for (let at = 1; at < array.length - 1; ) {
    const end = valueEnd(array, at, { deepest: 0 });
    found.push(array.slice(at, end));
    at = end + 1;
  }
  return found;
}

/** The same text without unnecessary escapes in its strings: a model reads `é`, not `\\u00e9`. */
export function plain(text: string): string {
  if (!text.includes('\\')) return text;
  let out = '';
  let from = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', from)) {
    const end = stringEnd(text, at);
    out += text.slice(from, at) + JSON.stringify(JSON.parse(text.slice(at, end)));
    from = end;
  }
  return out + text.slice(from);
}

/**
 * Whether a text, which need not be valid, has more different names than `max`. A few more pass, because some share a hash.
 * `JSON.parse` takes about a microsecond for each name that it has not seen before, so many of them stop the process.
 */
export function hasMoreNames(text: string, max: number): boolean {
  // Of each, a quoted letter and a colon.
  if (text.length < 4 * max) return false;
  const seen = new Uint8Array(hashes / 8);
  let names = 0;
  for (let at = text.indexOf('"'); at >= 0; ) {
    const end = stringEnd(text, at);
    if (end === 0) return false;
    let after = end;
    while (blank.has(text.charAt(after))) after++;
    if (text.charAt(after) === ':') {
      const hash = hashOf(text, at, end);
      const bit = 1 << (hash & 7);
      const byte = seen[hash >> 3] ?? 0;
      if ((byte & bit) === 0 && ++names > max) return true;
      seen[hash >> 3] = byte | bit;
    }
    at = text.indexOf('"', end);
  }
  return false;
}

/** So many that few names of a body share one. */
const hashes = 2 ** 20;

/** FNV-1a of the beginning of a string, from an offset that no caller knows: names can be chosen to share a known hash. */
function hashOf(text: string, at: number, end: number): number {
  let hash = hashOffset ^ (end - at);
  for (let next = at; next < Math.min(end, at + hashedMax); next++) {
    hash = Math.imul(hash ^ text.charCodeAt(next), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & (hashes - 1);
}

const hashOffset = Number.parseInt(randomHex(4), 16);
const hashedMax = 100;

/** The nesting depth of arrays and objects in a valid text; 0 for a plain value. */
export function depth(text: string): number {
  let now = 0;
  let most = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === '"') at = stringEnd(text, at) - 1;
    else if (letter === '{' || letter === '[') most = Math.max(most, ++now);
    else if (letter === '}' || letter === ']') now--;
  }
  return most;
}

/** Whether no string in a valid text, including names, contains a NUL or a lone surrogate, which no database stores. */
export function isStorable(text: string): boolean {
  if (!text.isWellFormed()) return false;
  // Unescaped, neither can occur in a valid text: only an escape can produce them.
  if (!suspectEscape.test(text)) return true;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = stringEnd(text, at);
    const raw = text.slice(at, end);
    if (suspectEscape.test(raw)) {
      const value = JSON.parse(raw) as string;
      if (value.includes('\0') || !value.isWellFormed()) return false;
    }
    at = end;
  }
  return true;
}

/** An escape that may produce a NUL or half of a surrogate pair. */
const suspectEscape = /\\u(0000|[dD][89a-fA-F])/;

/**
 * The first number in a valid text that `JSON.parse` would change because it is too long, too large or too small; null
 * if there is none. A reviver would find it too, but takes a second per megabyte of small values.
 */
export function changedNumber(text: string): string | null {
  for (const { number } of changedNumbers(text)) return number;
  return null;
}

/**
 * Why a valid text cannot become a value that Cueline stores; null if it can.
 * @param subject what the sentence is about, such as `The body`
 */
export function unstorableJson(text: string, subject: string): string | null {
  if (!isStorable(text)) {
    return `${subject} contains a NUL or a lone surrogate, which cannot be stored.`;
  }
  if (depth(text) > jsonDepthMax) return `${subject} is nested deeper than ${jsonDepthMax} levels.`;
  const changed = changedNumber(text);
  if (changed === null) return null;
  const shown = changed.length > shownCharsMax ? `${changed.slice(0, shownCharsMax)}…` : changed;
  return `The number ${shown} would lose precision. Send it as a string or with fewer digits.`;
}

/** Characters of a number that a message shows. */
const shownCharsMax = 40;

/** The text with each such number replaced. */
export function replaceChangedNumbers(text: string, put: (number: string) => string): string {
  let out = '';
  let from = 0;
  for (const { at, number } of changedNumbers(text)) {
    out += text.slice(from, at) + put(number);
    from = at + number.length;
  }
  return out + text.slice(from);
}

function* changedNumbers(text: string): Generator<{ at: number; number: string }> {
  if (!longNumber.test(text)) return;
  for (let from = 0; from < text.length; ) {
    const quote = text.indexOf('"', from);
    const between = text.slice(from, quote < 0 ? text.length : quote);
    for (const { index, 0: number } of between.matchAll(/-?\d[\d.eE+-]*/g)) {
      if (longNumber.test(number) && !isPreserved(number)) yield { at: from + index, number };
    }
    from = quote < 0 ? text.length : stringEnd(text, quote);
  }
}

/**
 * A canonical form that ignores the order of names, blanks and the notation of numbers: bodies are compared by it.
 * Numbers are compared as decimals: as floats, two long identifiers could be equal. `JSON.parse` would lose them, and a
 * reviver takes a second per megabyte of small values.
 */
export function canonical(text: string): string {
  let at = 0;
  return value(next());

  /** A bracket, or a whole value of another kind. In a valid text, the positions of commas and colons are known. */
  function next(): string {
    while (separators.has(text.charAt(at))) at++;
    const from = at++;
    const first = text.charAt(from);
    if (first === '"') at = stringEnd(text, from);
    else if (!brackets.has(first)) {
      while (at < text.length && !isEnd(text.charAt(at))) at++;
    }
    return text.slice(from, at);
  }

  function value(first: string): string {
    if (first === '[') return list();
    if (first === '{') return object();
    if (first.startsWith('"')) return plain(first);
    return 'tfn'.includes(first.charAt(0)) ? first : canonicalNumber(first);
  }

  function list(): string {
    let all = '';
    for (let one = next(); one !== ']'; one = next()) all += `${all && ','}${value(one)}`;
    return `[${all}]`;
  }

  /** If a name is sent twice, the last value wins. */
  function object(): string {
    const values = new Map<string, string>();
    for (let name = next(); name !== '}'; name = next()) {
      values.set(JSON.parse(name) as string, value(next()));
    }
    let all = '';
    for (const name of [...values.keys()].sort()) {
      all += `${all && ','}${JSON.stringify(name)}:${values.get(name)}`;
    }
    return `{${all}}`;
  }
}

function isEnd(letter: string): boolean {
  return separators.has(letter) || brackets.has(letter);
}

function canonicalNumber(number: string): string {
  if (!longNumber.test(number)) return String(Number(number));
  const [value, decimal] = [Number(number), decimalOf(number)];
  return isExact(value, decimal) ? String(value) : decimal;
}

/**
 * Numbers with this many digits, or an exponent this large; shorter numbers with different decimals are different
 * numbers.
 */
const longNumber = /[\d.]{16}|\d[eE][+-]?\d{3}/;

const powerCharsMax = 12;

/** Some programs write 17 digits where fewer identify the same number. */
function isPreserved(number: string): boolean {
  const [value, decimal] = [Number(number), decimalOf(number)];
  return isExact(value, decimal) || decimalOf(value.toPrecision(17)) === decimal;
}

/** Whether a parsed number still equals the decimal that was written. */
function isExact(value: number, decimal: string): boolean {
  return Number.isFinite(value) && decimalOf(String(value)) === decimal;
}

/** The canonical notation of a number: its digits without zeros at either end, and a power of ten. */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = (whole + part).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  if (end === 0) return '0';
  // Exponents this long are not normalized: parsing them is slow, and equal bodies write them alike.
  if (power.length > powerCharsMax) return number;
  return `${sign}${digits.slice(0, end)}e${Number(power) - (part.length - (digits.length - end))}`;
}

/** The index after the string that starts at `at`. */
export function stringEnd(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text.charAt(quote - 1 - slashes) === '\\') slashes++;
  return slashes % 2 === 1;
}

/** The deepest level inside the values that were scanned. */
interface Nesting {
  deepest: number;
}

/** The index after the value that starts at `at`, in a compact text. */
function valueEnd(text: string, at: number, nesting: Nesting): number {
  let nested = 0;
  for (let end = at; end < text.length; end++) {
    const letter = text.charAt(end);
    if (letter === '"') end = stringEnd(text, end) - 1;
    else if (letter === '{' || letter === '[') {
      if (++nested > nesting.deepest) nesting.deepest = nested;
    } else if (letter === '}' || letter === ']') {
      if (nested === 0) return end;
      nested--;
    } else if (letter === ',' && nested === 0) return end;
  }
  return text.length;
}

/** Equal including the order of names, which is what a model sees of a value. */
export function identical(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Equal regardless of the order of names. */
export function same(one: unknown, other: unknown): boolean {
  return canonical(JSON.stringify(one)) === canonical(JSON.stringify(other));
}
