/**
 * JSON out. Values that were sent to us leave as they came: number texts and the order of names belong to the caller,
 * and `JSON.stringify` would keep neither.
 */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  /** A mark for now. A replacer would be called for every value of every answer. */
  toJSON(): string {
    raws.push(this.text);
    return `${mark}${raws.length - 1}`;
  }
}

/** Of the answer being written. */
let raws: string[] = [];

const mark = '\u0000raw:';
const marked = /"\\u0000raw:(\d+)"/g;

export function toJson(value: unknown): string {
  raws = [];
  const text = JSON.stringify(value);
  // Stored text holds no NUL, so nothing else can look like a mark.
  return raws.length === 0
    ? text
    : text.replace(marked, (_, index: string) => raws[Number(index)] ?? 'null');
}
