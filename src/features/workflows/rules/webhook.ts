import { timingSafeEqual } from 'node:crypto';
import { type ExecuteBody, parseExecuteBody } from '../../../core/agent/variables.ts';
import { computeJob } from '../../../core/compute.ts';
import { isObject } from '../../../core/is-object.ts';
import { webhookHmac } from '../../../core/standard-webhooks.ts';

/**
 * Inbound webhooks, signed as Standard Webhooks specifies: HMAC-SHA256 over `webhook-id`, `webhook-timestamp` and the bytes
 * of the body, in `webhook-signature`.
 */

/** The maximum difference between the sender's clock and the database's. */
export const toleranceMs = 300_000;
/** A sender that rotates its secret signs with both; more than a few signatures are not plausible. */
const signaturesMax = 10;

export interface SignatureHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
}

/** `outOfRange`: signed, but too long ago or too far ahead. */
export type SignatureResult = 'valid' | 'invalid' | 'outOfRange';

/**
 * Verifies a call whose body arrives in chunks: a text decoded from it could differ, for example by a byte order mark. The
 * database's clock counts, so that all processes agree.
 */
export interface SignatureCheck {
  update(chunk: Uint8Array): void;
  result(nowMs: number): SignatureResult;
}

export function checkSignature(
  secret: string,
  { id, timestamp, signature }: SignatureHeaders,
): SignatureCheck {
  const hmac = webhookHmac(secret, id, timestamp);
  return {
    update: (chunk) => void hmac.update(chunk),
    result(nowMs) {
      const expected = hmac.digest();
      if (!id || !timestamp || !signature) return 'invalid';
      const isSigned = signature
        .split(' ', signaturesMax)
        .some((one) => v1.test(one) && timingSafeEqual(bytesOf(one), expected));
      if (!isSigned) return 'invalid';
      // In seconds. What is signed but no time in seconds, such as milliseconds, is out of range too.
      const atMs = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN;
      return Math.abs(nowMs - atMs) <= toleranceMs ? 'valid' : 'outOfRange';
    },
  };
}

/** 32 bytes in base64, with or without padding. */
const v1 = /^v1,[A-Za-z0-9+/]{43}=?$/;

function bytesOf(signature: string): Buffer {
  return Buffer.from(signature.slice(3), 'base64');
}

/** The whole body of an event is the input of the workflow. */
export function parseEvent(payload: string): ExecuteBody {
  let event: unknown;
  try {
    event = JSON.parse(payload);
  } catch {
    return { kind: 'malformed', message: 'The body is not valid JSON.' };
  }
  if (!isObject(event)) {
    return { kind: 'invalid', message: 'The body must be a JSON object.', variable: null };
  }
  return parseExecuteBody(`{"input":${payload}}`, 'input');
}

export const parseEventJob = computeJob(import.meta.url, parseEvent);
