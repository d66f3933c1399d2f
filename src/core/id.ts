import { randomHex } from './random.ts';

/**
 * Identifiers: stored as `uuid` (version 7, so that rows sort by time), shown on the wire as a TypeID: a prefix for the
 * kind, an underscore, and the 128 bits in 26 characters of Crockford base32.
 */

const prefixes = {
  workspace: 'wsp',
  user: 'usr',
  prompt: 'prm',
  version: 'ver',
  agent: 'agt',
  key: 'key',
  execution: 'exe',
  pin: 'pin',
  invitation: 'inv',
  erasure: 'era',
  audit: 'aud',
  workflow: 'wfl',
  workflowVersion: 'wfv',
  workflowPin: 'wfp',
  workflowRun: 'wfr',
  schedule: 'sch',
  webhook: 'whk',
  endpoint: 'end',
  event: 'evt',
  batch: 'bat',
  alert: 'alr',
  budget: 'bud',
  toolServer: 'tsv',
  toolCall: 'tcl',
} as const;

/** The kinds of objects with a wire identifier. */
export type IdKind = keyof typeof prefixes;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
/** Two characters per 10 bits. */
const pairs = [...alphabet].flatMap((first) => [...alphabet].map((second) => first + second));
/** The 5 bits of each character, by its code. */
const bitsOf = new Uint8Array(128);
for (const [bits, letter] of [...alphabet].entries()) bitsOf[letter.charCodeAt(0)] = bits;
const pattern = /^([a-z]{3})_([0-7][0-9a-hjkmnp-tv-z]{25})$/;

/**
 * A version 7 UUID with the time `atMs` (milliseconds since 1970, UTC), which must come from the database's clock.
 * @param random 20 hexadecimal digits
 */
export function uuid7(atMs: number, random = randomHex(10)): string {
  const time = Math.trunc(atMs).toString(16).padStart(12, '0');
  const variant = ((Number.parseInt(random.charAt(3), 16) & 0x3) | 0x8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}

/** The time inside a version 7 UUID, in milliseconds since 1970. */
export function uuid7Time(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/**
 * The wire form of a stored identifier, for example `agt_01jd…`. The bits are converted in groups of 8 + 6 × 20:
 * ordinary numbers hold these, several times faster than a 128-bit integer.
 */
export function toId(kind: IdKind, uuid: string): string {
  const hex = uuid.replaceAll('-', '');
  let text = `${prefixes[kind]}_${pairs[Number.parseInt(hex.slice(0, 2), 16)]}`;
  for (let at = 2; at < 32; at += 5) {
    const bits = Number.parseInt(hex.slice(at, at + 5), 16);
    text += `${pairs[bits >> 10]}${pairs[bits & 1023]}`;
  }
  return text;
}

/** The stored form of a wire identifier of that kind; `null` for anything else, which is treated as unknown. */
export function fromId(kind: IdKind, id: string): string | null {
  const match = pattern.exec(id);
  if (!match || match[1] !== prefixes[kind]) return null;
  const text = match[2] ?? '';
  let hex = hexOf(text.slice(0, 2), 2);
  for (let at = 2; at < 26; at += 4) hex += hexOf(text.slice(at, at + 4), 5);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** No object has this identifier. */
export const unknownId = '00000000-0000-0000-0000-000000000000';

/** The stored form of a wire identifier of that kind; an unknown one if it is malformed. */
export function storedId(kind: IdKind, id: string): string {
  return fromId(kind, id) ?? unknownId;
}

/** The same of a list, if there is one. */
export function storedIds(kind: IdKind, ids: readonly string[] | null = null): string[] | null {
  return ids?.map((id) => storedId(kind, id)) ?? null;
}

/** The pattern of a wire identifier of that kind, for schemas. */
export function idPattern(kind: IdKind): string {
  return `^${prefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
}

/** The smallest identifier of a millisecond: a range of times is a range of identifiers. */
export function uuidFloor(atMs: number): string {
  const time = Math.min(Math.max(0, Math.trunc(atMs)), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** The stored identifier after this one in order. */
export function idAfter(uuid: string): string {
  const next = (BigInt(`0x${uuid.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function hexOf(letters: string, digits: number): string {
  let bits = 0;
  for (let at = 0; at < letters.length; at++) {
    bits = (bits << 5) | (bitsOf[letters.charCodeAt(at)] ?? 0);
  }
  return bits.toString(16).padStart(digits, '0');
}
