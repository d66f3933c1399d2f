import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * API keys: `cue_`, 30 random base62 characters (178 bits) and 6 characters with the CRC-32 of what precedes them. The
 * checksum rejects mistyped and invented keys without a database lookup.
 */

export const permissions = ['execute', 'read', 'cancel', 'manage', 'own'] as const;
export type Permission = (typeof permissions)[number];

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^cue_[0-9A-Za-z]{36}$/;

export function generateKey(): string {
  let body = 'cue_';
  for (let i = 0; i < 30; i++) body += alphabet.charAt(randomInt(62));
  return body + checksum(body);
}

/** Whether format and checksum are valid; not whether the key was ever issued. */
export function isKey(text: string): boolean {
  return shape.test(text) && checksum(text.slice(0, 34)) === text.slice(34);
}

/** The stored hash of a key, in hexadecimal. Plain SHA-256 suffices: the key has too much entropy to be searched. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** The hash as stored bytes. */
export function hashBytes(digits: string): Buffer {
  return Buffer.from(digits, 'hex');
}

/** The start of a key, shown to tell keys apart. */
export function keyStart(key: string): string {
  return key.slice(0, 10);
}

function checksum(text: string): string {
  let rest = crc32(text);
  let out = '';
  for (let i = 0; i < 6; i++) {
    out = alphabet.charAt(rest % 62) + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}
