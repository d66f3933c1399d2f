import type { Value } from './value.ts';

/** An array literal of PostgreSQL. Arrays of arrays must be rectangular there, so others are sent as arrays of literals. */
export function arrayLiteral(values: readonly Value[]): string {
  let text = '{';
  for (const value of values) text += text === '{' ? elementText(value) : `,${elementText(value)}`;
  return `${text}}`;
}

function elementText(value: Value): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`;
  const text = String(value);
  return special.test(text) ? escaped(text) : `"${text}"`;
}

const special = /["\\]/;
const [quote, backslash] = [0x22, 0x5c];

/** Byte by byte: replacing takes the event loop 100 ms for a megabyte of small JSON values, and rows may be locked meanwhile. */
function escaped(text: string): string {
  const bytes = Buffer.from(text);
  const literal = Buffer.allocUnsafe(2 * bytes.length + 2);
  let length = 0;
  literal[length++] = quote;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === quote || byte === backslash) literal[length++] = backslash;
    literal[length++] = byte;
  }
  literal[length++] = quote;
  return literal.toString('utf8', 0, length);
}
