import { piecesOf } from '../../core/text-pieces.ts';

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

/** A part of the JSON of a value: JSON as it is, or a text to be written as a string. */
interface JsonPart {
  readonly text: string;
  readonly isString: boolean;
}

/** Texts longer than a slice are not copied into the JSON around them. */
const sliceCharsMax = 16_384;
const longTexts = /"\\u0000(raw|text):(\d+)"/g;

/** The JSON of values that several readers share, such as the end of an execution. */
const jsonPartsByValue = new WeakMap<object, readonly JsonPart[]>();

/** The same text as `toJson` in slices, each made when it is needed. What comes before and after is part of the first and last. */
export function* jsonSlices(value: unknown, before: string, after: string): Generator<string> {
  let slice = before;
  for (const { text, isString } of partsOf(value)) {
    for (const piece of piecesOf(text, sliceCharsMax)) {
      slice += isString ? JSON.stringify(piece).slice(1, -1) : piece;
      if (slice.length < sliceCharsMax) continue;
      yield slice;
      slice = '';
    }
  }
  yield slice + after;
}

function partsOf(value: unknown): readonly JsonPart[] {
  if (typeof value !== 'object' || value === null)
    return [{ text: toJson(value), isString: false }];
  const known = jsonPartsByValue.get(value);
  if (known) return known;
  const parts = splitJson(value);
  if (parts.length > 1) jsonPartsByValue.set(value, parts);
  return parts;
}

function splitJson(value: object): JsonPart[] {
  const texts: string[] = [];
  rawTexts = [];
  const json = JSON.stringify(value, (_, each: unknown) => {
    const isLong = typeof each === 'string' && each.length > sliceCharsMax;
    return isLong ? `\u0000text:${texts.push(each) - 1}` : each;
  });
  if (rawTexts.length + texts.length === 0) return [{ text: json, isString: false }];
  const parts: JsonPart[] = [];
  let [plain, from] = ['', 0];
  const put = (text: string, isString: boolean) => {
    parts.push({ text: plain, isString: false }, { text, isString });
    plain = '';
  };
  for (const { 0: found, 1: kind, 2: number, index } of json.matchAll(longTexts)) {
    plain += json.slice(from, index);
    from = index + found.length;
    const text = (kind === 'raw' ? rawTexts : texts)[Number(number)] ?? 'null';
    if (kind === 'text') {
      plain += '"';
      put(text, true);
      plain = '"';
    } else if (text.length > sliceCharsMax) put(text, false);
    else plain += text;
  }
  return [...parts, { text: plain + json.slice(from), isString: false }];
}
