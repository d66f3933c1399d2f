/** How much of a provider's answer is taken. */

/** An answer that is larger is refused. */
export const responseBytesMax = 32 * 1024 * 1024;
/** Of an answer that is an error this much is read; its status says the most. */
export const errorBytesMax = 64 * 1024;
/**
 * A long answer is few values with long texts. One with very many is none that a model gives, and to hold it against its
 * schema would take the process seconds, and more memory than it has. An answer of a model has some hundred values, a
 * list of models, which the test of a connection reads, some ten thousand.
 */
export const responseValuesMax = 50_000;

const quote = 0x22;
const comma = 0x2c;
const bracket = 0x5b;
const backslash = 0x5c;
const brace = 0x7b;

/**
 * Whether a JSON text has more than `responseValuesMax` values. They are counted by what stands before or between them, on
 * the bytes and before anything is made of them. What is no JSON is counted rightly up to where a parser gives it up.
 */
export function hasTooManyValues(json: Uint8Array): boolean {
  // None is shorter than a byte, and most answers end here.
  if (json.length <= responseValuesMax) return false;
  let values = 1;
  for (let at = 0; at < json.length && values <= responseValuesMax; at++) {
    const byte = json[at];
    if (byte === quote) at = textEnd(json, at);
    else if (byte === comma || byte === bracket || byte === brace) values++;
  }
  return values > responseValuesMax;
}

/** Where the text that begins at `start` has its closing quote. */
function textEnd(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}
