import { randomUUID } from 'node:crypto';
import { replaceChangedNumbers } from '../json.ts';

/**
 * What a condition speaks of, read with numbers as doubles. A whole number that no double holds would be another one, equal
 * to what it is not: whatever looks at it fails. Of a fraction the last digits are lost, as everywhere.
 */
export function conditionValue(json: string): unknown {
  // Nobody can write it by chance or by intent.
  const mark = randomUUID();
  const marked = replaceChangedNumbers(json, (number) =>
    Math.abs(Number(number)) > Number.MAX_SAFE_INTEGER ? `"${mark}${number}"` : number,
  );
  const value: unknown = JSON.parse(marked);
  return marked === json ? value : withLost(value, mark);
}

function withLost(value: unknown, mark: string): unknown {
  if (typeof value === 'string' && value.startsWith(mark)) return lost(value.slice(mark.length));
  if (typeof value !== 'object' || value === null) return value;
  const of = value as Record<string, unknown>;
  for (const name of Object.keys(of)) {
    const part = withLost(of[name], mark);
    if (part !== of[name]) of[name] = part;
  }
  return value;
}

const shownCharsMax = 40;

/** Of no type: to ask for that is the first thing that is done with any value. */
function lost(number: string): object {
  return {
    get constructor(): never {
      const shown = number.length > shownCharsMax ? `${number.slice(0, shownCharsMax)}…` : number;
      throw new Error(`The number ${shown} is no double: to compare it, send it as a text.`);
    },
  };
}
