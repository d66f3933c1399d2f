/**
 * JSON text that responses include unchanged. It preserves number texts and the order of names, which `JSON.stringify`
 * does not.
 */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  /** A placeholder for `toJson`. A replacer function would run for every value of every response. */
  toJSON(): string {
    rawTexts.push(this.text);
    return `${placeholder}${rawTexts.length - 1}`;
  }
}

/** Raw texts of the response that `toJson` writes now. */
let rawTexts: string[] = [];

const placeholder = '\u0000raw:';
const placeholders = /"\\u0000raw:(\d+)"/g;

export function toJson(value: unknown): string {
  rawTexts = [];
  const text = JSON.stringify(value);
  // Stored text contains no NUL, so no value can look like a placeholder.
  return rawTexts.length === 0
    ? text
    : text.replace(placeholders, (_, index: string) => rawTexts[Number(index)] ?? 'null');
}
