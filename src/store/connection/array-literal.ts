import type { Value } from './pipeline.ts';

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
  return special.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}

const special = /["\\]/;
