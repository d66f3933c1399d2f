/**
 * JSON as it was sent. `JSON.parse` loses the order of number-like names and the text of numbers, both of which
 * belong to the caller; so after it has vouched for the syntax, this walks the text itself.
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

/** The members of a compact object, in the order sent; a name sent twice stands twice. */
export function members(object: string): Member[] {
  const found: Member[] = [];
  let at = 1;
  while (at < object.length - 1) {
    const nameEnd = stringEnd(object, at);
    const end = valueEnd(object, nameEnd + 1);
    found.push({
      name: JSON.parse(object.slice(at, nameEnd)) as string,
      text: object.slice(nameEnd + 1, end),
    });
    at = end + 1;
  }
  return found;
}

/** The elements of a compact array, as compact texts. */
export function elements(array: string): string[] {
  const found: string[] = [];
  for (let at = 1; at < array.length - 1; ) {
    const end = valueEnd(array, at);
    found.push(array.slice(at, end));
    at = end + 1;
  }
  return found;
}

/** The same text with no more escapes in its strings than JSON needs: a model reads `é`, not `\\u00e9`. */
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

/** How deep arrays and objects nest in a valid text; 0 for a plain value. */
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

/** Whether no string in a valid text, names included, holds a NUL or a lone surrogate: text no database stores. */
export function isStorable(text: string): boolean {
  if (!text.isWellFormed()) return false;
  // As they are, neither can stand in a valid text: only an escape can mean them.
  if (!doubtfulEscape.test(text)) return true;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = stringEnd(text, at);
    const raw = text.slice(at, end);
    if (doubtfulEscape.test(raw)) {
      const value = JSON.parse(raw) as string;
      if (value.includes('\0') || !value.isWellFormed()) return false;
    }
    at = end;
  }
  return true;
}

/** What may mean a NUL, or half of a pair that may lack its other half. */
const doubtfulEscape = /\\u(0000|[dD][89a-fA-F])/;

/**
 * The first number in a valid text that `JSON.parse` makes another one of, since it is too long, too large or too small;
 * null where there is none. A reviver would find it too, in a second for each megabyte of small values.
 */
export function changedNumber(text: string): string | null {
  for (const { number } of changedNumbers(text)) return number;
  return null;
}

/** The text with something else in the place of each such number. */
export function putForChanged(text: string, put: (number: string) => string): string {
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
      if (longNumber.test(number) && !isKept(number)) yield { at: from + index, number };
    }
    from = quote < 0 ? text.length : stringEnd(text, quote);
  }
}

/**
 * The same value whatever the order of its names, the blanks, or how a number is written: what two bodies are compared by.
 * Numbers are compared as decimals: as floating-point numbers, two long identifiers would be one. `JSON.parse` would lose
 * them, and a reviver, which is told how they were written, takes a second for each megabyte of small values.
 */
export function canonical(text: string): string {
  let at = 0;
  return value(next());

  /** A bracket, or a whole value of another kind. Where commas and colons stand is known of a valid text. */
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

  /** Of a name sent twice the last counts. */
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

/** So many digits, or so large a power: what is shorter is another number where it is another decimal. */
const longNumber = /[\d.]{16}|\d[eE][+-]?\d{3}/;

const powerCharsMax = 12;

/** With 17 digits some programs write what with fewer is the same number. */
function isKept(number: string): boolean {
  const [value, decimal] = [Number(number), decimalOf(number)];
  return isExact(value, decimal) || decimalOf(value.toPrecision(17)) === decimal;
}

/** Whether a number that was read is still the decimal that was written. */
function isExact(value: number, decimal: string): boolean {
  return Number.isFinite(value) && decimalOf(String(value)) === decimal;
}

/** All ways to write one number as one: its digits without zeros at either end, and a power of ten. */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = (whole + part).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  if (end === 0) return '0';
  // Nobody writes such a power in two ways, and to read it takes long.
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

/** The index after the value that starts at `at`, in a compact text. */
function valueEnd(text: string, at: number): number {
  let nested = 0;
  for (let end = at; end < text.length; end++) {
    const letter = text.charAt(end);
    if (letter === '"') end = stringEnd(text, end) - 1;
    else if (letter === '{' || letter === '[') nested++;
    else if (letter === '}' || letter === ']') {
      if (nested === 0) return end;
      nested--;
    } else if (letter === ',' && nested === 0) return end;
  }
  return text.length;
}
