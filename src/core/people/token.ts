import { createHash, randomBytes } from 'node:crypto';

/** Secrets that are shown once: invitation tokens and generated passwords. */

/** 256 bits. */
export function generateToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The stored hash. Plain SHA-256 suffices: the token has too much entropy to be searched. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** 96 bits in 16 characters. */
export function generatePassword(): string {
  return randomBytes(12).toString('base64url');
}

/** Hashes a password for storage. Throws if it is too short or too long. */
export type HashPassword = (password: string) => Promise<string>;
