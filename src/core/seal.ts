import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Stored credentials: AES-256-GCM under a key derived from `CUELINE_SECRET`, with the owner of the text
 * (`workspace/row`) as associated data, so that a sealed text copied into another row cannot be opened. Layout: version
 * (1 byte), nonce (12), tag (16), ciphertext.
 */

const version = 1;
const header = 1 + 12 + 16;

export function deriveSealKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'cueline', 'credentials', 32));
}

export function seal(key: Buffer, text: string, owner: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), body]);
}

/** Throws if the key, the owner or a single bit differs. */
export function unseal(key: Buffer, sealed: Buffer, owner: string): string {
  if (sealed.length < header || sealed[0] !== version) throw new Error('not a sealed text');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13))
    .setAAD(Buffer.from(owner))
    .setAuthTag(sealed.subarray(13, header));
  return decipher.update(sealed.subarray(header), undefined, 'utf8') + decipher.final('utf8');
}
