import { randomKey } from './random-key.ts';

/**
 * JSON that keeps numbers as written. `JSON.parse` turns 12345678901234567890 into 12345678901234567000 and 1.10 into
 * 1.1. `JSON.rawJSON` would help, but not all supported browsers have it.
 */

/** A number that JavaScript would print differently. All other numbers stay plain. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** `JSON.stringify` writes a marked string, which `stringify` turns back into the number. */
  toJSON(): string {
    return mark + this.text;
  }
}

/** Random, so that no user text starts with it by chance or intent. */
const mark = `${randomKey()} `;

export function parse(text: string): unknown {
  // Validates the syntax, so that the scan below can rely on it.
  const value: unknown = JSON.parse(text);
  let isInText = false;
  let differs = false;
  const marked = text.replaceAll(markOrNumber, (part) => {
    if (part === '"') isInText = !isInText;
    if (isInText || !/\d$/.test(part) || isPlain(part)) return part;
    differs = true;
    return `"${mark}${part}"`;
  });
  return differs ? JSON.parse(marked, unmarked) : value;
}

/**
 * A quote, an escape sequence or a number. One pattern for whole strings would overflow the regex stack on long texts.
 */
const markOrNumber = /"|\\.|-?\d[\d.eE+-]*/g;

const isPlain = (number: string) => String(Number(number)) === number;

/** Keeps the exact text only where JavaScript would change it. */
export function toExactNumber(number: string): number | ExactNumber {
  return isPlain(number) ? Number(number) : new ExactNumber(number);
}

function unmarked(_: string, value: unknown): unknown {
  const isMarked = typeof value === 'string' && value.startsWith(mark);
  return isMarked ? new ExactNumber(value.slice(mark.length)) : value;
}

export function stringify(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(markedNumber, '$1');
}

const markedNumber = new RegExp(`"${mark}([^"]+)"`, 'g');
