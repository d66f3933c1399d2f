/** Limits on provider responses. */

/** Larger responses are rejected. */
export const responseBytesMax = 32 * 1024 * 1024;
/** Larger files are rejected. */
export const fileBytesMax = 20 * 1024 * 1024;
/** Error bodies are read up to this size; the status matters most. */
export const errorBytesMax = 64 * 1024;
/**
 * A real response has few values with long texts. Validating one with very many values would take seconds and more
 * memory than the process has. A model's response has some hundred values, a list of models some ten thousand.
 */
export const responseValuesMax = 50_000;
/** An event stream repeats a dozen values for each token, and its events are parsed one by one. */
export const streamValuesMax = 1_000_000;

const quote = 0x22;
const comma = 0x2c;
const bracket = 0x5b;
const backslash = 0x5c;
const brace = 0x7b;

/**
 * Whether a JSON text has more than `responseValuesMax` values, or an event stream more than `streamValuesMax`, counted
 * by the separators in the bytes before anything is parsed. For invalid JSON the count is right up to where a parser
 * would give up.
 */
export function hasTooManyValues(json: Uint8Array, isStream = false): boolean {
  const valuesMax = isStream ? streamValuesMax : responseValuesMax;
  // No value is shorter than a byte; most responses end here.
  if (json.length <= valuesMax) return false;
  let values = 1;
  for (let at = 0; at < json.length && values <= valuesMax; at++) {
    const byte = json[at];
    if (byte === quote) at = textEnd(json, at);
    else if (byte === comma || byte === bracket || byte === brace) values++;
  }
  return values > valuesMax;
}

/** Counts the values of an event stream that arrives in pieces; returns whether they are too many. */
export function countStreamValues(): (piece: Uint8Array) => boolean {
  let values = 0;
  let inText = false;
  let isEscaped = false;
  return (piece) => {
    for (const byte of piece) {
      if (isEscaped) isEscaped = false;
      else if (byte === quote) inText = !inText;
      else if (inText) isEscaped = byte === backslash;
      else if (byte === comma || byte === bracket || byte === brace) values++;
    }
    return values > streamValuesMax;
  };
}

/** The index of the closing quote of the text that begins at `start`. */
function textEnd(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}
