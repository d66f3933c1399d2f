import { createHash, randomBytes } from 'node:crypto';

/** Secrets that are shown once: the token of an invitation, a password that nobody chose. */

/** 256 bits. */
export function generateToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored. A plain SHA-256 is enough: the token has more entropy than can be searched. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** 96 bits in 16 characters. */
export function generatePassword(): string {
  return randomBytes(12).toString('base64url');
}

/** What turns a password into what is stored of it. Throws for one that is too short or too long. */
export type HashPassword = (password: string) => Promise<string>;
