import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** Inbound webhooks, signed as Standard Webhooks has it: `webhook-id`, `webhook-timestamp`, `webhook-signature`. */

/** How far the sender's clock may be from the database's. */
export const toleranceMs = 300_000;
const secretBytes = 32;
/** A sender that changes its secret signs with both; more than a few are no signatures. */
const signaturesMax = 10;

export function generateWebhookSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`;
}

export interface SignedCall {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  /** The body to the letter. */
  readonly payload: string;
}

/**
 * Whether a call was signed with this secret, and lately. The library's own `verify` goes by the clock of the process;
 * here only the database's counts, so that all processes judge alike.
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
