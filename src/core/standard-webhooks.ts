import { createHmac, type Hmac, randomBytes } from 'node:crypto';

/** What inbound webhooks and sent events share: secrets and signatures as Standard Webhooks specifies them. */

const secretPrefix = 'whsec_';
const secretBytes = 32;

export function generateWebhookSecret(): string {
  return `${secretPrefix}${randomBytes(secretBytes).toString('base64')}`;
}

/** An HMAC-SHA256 that has read the id and the timestamp in seconds. The bytes of the body follow. */
export function webhookHmac(
  secret: string,
  id: string | undefined,
  timestamp: string | undefined,
): Hmac {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.`);
}
