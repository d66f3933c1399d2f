import { randomKey } from './random-key.ts';

/**
 * JSON whose numbers stay as they are written: `JSON.parse` makes 12345678901234567000 of 12345678901234567890, and 1.1 of
 * 1.10. `JSON.rawJSON` would help, but not all browsers that the page is built for have it.
 */

/** A number that JavaScript would write otherwise. All others are plain numbers. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** To `JSON.stringify` a text, of which `stringify` makes the number again. */
  toJSON(): string {
    return mark + this.text;
  }
}

/** Nobody can know it, so that no text begins with it by design or chance. */
const mark = `${randomKey()} `;

export function parse(text: string): unknown {
  // It vouches for the syntax: after it, what looks like a number is one.
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

/** Where a text begins or ends, what is escaped in one, or a number. As one pattern, a long text would need a deep stack. */
const markOrNumber = /"|\\.|-?\d[\d.eE+-]*/g;

const isPlain = (number: string) => String(Number(number)) === number;

/** What `parse` makes of it. */
export function exactOf(number: string): number | ExactNumber {
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
