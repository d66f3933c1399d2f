import { createHmac, type Hmac, randomBytes } from 'node:crypto';

/** What inbound webhooks and sent events share: secrets and signatures as Standard Webhooks specifies them. */

const secretPrefix = 'whsec_';
const secretBytes = 32;

export function generateWebhookSecret(): string {
  return `${secretPrefix}${randomBytes(secretBytes).toString('base64')}`;
}

/** Secrets are stored in this form, also those of senders that use theirs as text. */
export function secretOfText(text: string): string {
  return `${secretPrefix}${Buffer.from(text).toString('base64')}`;
}

/** Whether a text is a secret as the standard writes it. */
export function isWebhookSecret(text: string): boolean {
  return /^whsec_[A-Za-z0-9+/]{2,}={0,2}$/.test(text);
}

export function secretHmac(secret: string): Hmac {
  return createHmac('sha256', Buffer.from(secret.slice(secretPrefix.length), 'base64'));
}

/** An HMAC-SHA256 that has read the id and the timestamp in seconds. The bytes of the body follow. */
export function webhookHmac(
  secret: string,
  id: string | undefined,
  timestamp: string | undefined,
): Hmac {
  return secretHmac(secret).update(`${id}.${timestamp}.`);
}
