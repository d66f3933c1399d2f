import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** Inbound webhooks, signed as Standard Webhooks specifies: `webhook-id`, `webhook-timestamp`, `webhook-signature`. */

/** The maximum difference between the sender's clock and the database's. */
export const toleranceMs = 300_000;
const secretBytes = 32;
/** A sender that rotates its secret signs with both; more than a few signatures are not plausible. */
const signaturesMax = 10;

export function generateWebhookSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`;
}

export interface SignedCall {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  /** The body, byte for byte. */
  readonly payload: string;
}

/**
 * Whether a call carries a valid, recent signature. The library's own `verify` uses the process clock; here only the
 * database's clock counts, so that all processes agree.
 */
export function isSigned(secret: string, call: SignedCall, nowMs: number): boolean {
  const { id, timestamp, signature, payload } = call;
  if (!id || !timestamp || !signature || !/^\d{1,12}$/.test(timestamp)) return false;
  const at = new Date(Number(timestamp) * 1000);
  if (Math.abs(nowMs - at.getTime()) > toleranceMs) return false;
  const expected = Buffer.from(new Webhook(secret).sign(id, at, payload));
  return signature
    .split(' ', signaturesMax)
    .map((one) => Buffer.from(one))
    .some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}
