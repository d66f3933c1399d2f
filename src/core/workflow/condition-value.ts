import { randomUUID } from 'node:crypto';
import { replaceChangedNumbers } from '../json.ts';

/**
 * The data of a condition, parsed with numbers as doubles. Rounding a whole number would make it equal to other numbers, so
 * an operation on one without an exact double fails. Fractions are rounded, as everywhere.
 */
export function conditionValue(json: string): unknown {
  // Random, so that no text in the data begins with it.
  const mark = randomUUID();
  const marked = replaceChangedNumbers(json, (number) =>
    Math.abs(Number(number)) > Number.MAX_SAFE_INTEGER ? `"${mark}${number}"` : number,
  );
  const value: unknown = JSON.parse(marked);
  return marked === json ? value : withInexact(value, mark);
}

function withInexact(value: unknown, mark: string): unknown {
  if (typeof value === 'string' && value.startsWith(mark))
    return new InexactNumber(value.slice(mark.length));
  if (typeof value !== 'object' || value === null) return value;
  const parent = value as Record<string, unknown>;
  for (const name of Object.keys(parent)) {
    const child = withInexact(parent[name], mark);
    if (child !== parent[name]) parent[name] = child;
  }
  return value;
}

const shownCharsMax = 40;

/** Reading its type throws, and every operation reads the type first. */
class InexactNumber {
  readonly #number: string;

  constructor(number: string) {
    this.#number = number;
  }

  fail(): never {
    const number = this.#number;
    const shown = number.length > shownCharsMax ? `${number.slice(0, shownCharsMax)}…` : number;
    throw new Error(`The number ${shown} has no exact double. Send it as a string to compare it.`);
  }
}

Object.defineProperty(InexactNumber.prototype, 'constructor', {
  get(this: InexactNumber) {
    return this.fail();
  },
});
