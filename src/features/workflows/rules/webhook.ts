import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type ExecuteBody, parseExecuteBody } from '../../../core/agent/variables.ts';
import { computeJob } from '../../../core/compute.ts';
import { isObject } from '../../../core/is-object.ts';
import { secretHmac } from '../../../core/standard-webhooks.ts';

/**
 * Inbound webhooks. All schemes sign with HMAC-SHA256, over a prefix from the headers and the bytes of the body:
 *
 *     standard   `{webhook-id}.{webhook-timestamp}.`         `webhook-signature: v1,BASE64 …`
 *     github     nothing                                     `x-hub-signature-256: sha256=HEX`
 *     stripe     `{t}.`                                      `stripe-signature: t=SECONDS,v1=HEX,…`
 *     slack      `v0:{x-slack-request-timestamp}:`           `x-slack-signature: v0=HEX`
 */

export const webhookSignatures = ['standard', 'github', 'stripe', 'slack'] as const;
export type WebhookSignature = (typeof webhookSignatures)[number];

/** The maximum difference between the sender's clock and the database's. */
export const toleranceMs = 300_000;
/** A sender that rotates its secret signs with both; more than a few signatures are not plausible. */
const signaturesMax = 10;

/** What the headers of an event say about its signature. */
export interface SignedHeaders {
  /** Null if a header is missing: then the event is not signed. */
  readonly prefix: string | null;
  /** In seconds; undefined if the scheme has none. */
  readonly timestamp?: string;
  readonly signatures: readonly Buffer[];
  /** Identifies the event among those of the webhook, so that a repeat starts nothing. */
  readonly eventId: string | undefined;
  readonly eventIdHeader: string;
}

export function readSignedHeaders(
  kind: WebhookSignature,
  headers: IncomingHttpHeaders,
): SignedHeaders {
  const header = (name: string) => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return schemes[kind](header);
}

type ReadHeader = (name: string) => string | undefined;

const schemes: Readonly<Record<WebhookSignature, (header: ReadHeader) => SignedHeaders>> = {
  standard(header) {
    // Svix, from which the standard comes, also sends its own names.
    const read = (name: string) => header(`webhook-${name}`) ?? header(`svix-${name}`);
    const [eventId, timestamp, sent] = [read('id'), read('timestamp'), read('signature')];
    return {
      prefix: eventId && timestamp ? `${eventId}.${timestamp}.` : null,
      timestamp: timestamp ?? '',
      signatures: signaturesIn(sent?.split(' ', signaturesMax), v1),
      ...{ eventId, eventIdHeader: 'webhook-id' },
    };
  },
  github: (header) => ({
    prefix: '',
    signatures: signaturesIn([header('x-hub-signature-256')], sha256),
    ...{ eventId: header('x-github-delivery'), eventIdHeader: 'X-GitHub-Delivery' },
  }),
  stripe(header) {
    const sent = header('stripe-signature') ?? '';
    const items = sent.split(',', 2 * signaturesMax).map((item) => item.trim());
    const timestamp = items.find((item) => item.startsWith('t='))?.slice(2);
    const signatures = signaturesIn(items, stripeV1).slice(0, signaturesMax);
    return timed(timestamp, (at) => `${at}.`, signatures);
  },
  slack(header) {
    const timestamp = header('x-slack-request-timestamp');
    const signatures = signaturesIn([header('x-slack-signature')], v0);
    return timed(timestamp, (at) => `v0:${at}:`, signatures);
  },
};

/** The headers name no event, so a repeat is not recognized. */
function timed(
  timestamp: string | undefined,
  prefixOf: (timestamp: string) => string,
  signatures: readonly Buffer[],
): SignedHeaders {
  return {
    prefix: timestamp ? prefixOf(timestamp) : null,
    timestamp: timestamp ?? '',
    signatures,
    ...{ eventId: undefined, eventIdHeader: '' },
  };
}

/** The first group is 32 bytes: in base64 with or without padding, or in hex. */
const v1 = /^v1,([A-Za-z0-9+/]{43}=?)$/;
const sha256 = /^sha256=([0-9a-f]{64})$/i;
const stripeV1 = /^v1=([0-9a-f]{64})$/i;
const v0 = /^v0=([0-9a-f]{64})$/i;

function signaturesIn(texts: readonly (string | undefined)[] = [], pattern: RegExp): Buffer[] {
  const encoding = pattern === v1 ? 'base64' : 'hex';
  return texts.flatMap((text) => {
    const [, bytes] = pattern.exec(text ?? '') ?? [];
    return bytes === undefined ? [] : Buffer.from(bytes, encoding);
  });
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
  { prefix, timestamp, signatures }: SignedHeaders,
): SignatureCheck {
  const hmac = secretHmac(secret).update(prefix ?? '');
  return {
    update: (chunk) => void hmac.update(chunk),
    result(nowMs) {
      const expected = hmac.digest();
      if (prefix === null || !signatures.some((one) => timingSafeEqual(one, expected))) {
        return 'invalid';
      }
      if (timestamp === undefined) return 'valid';
      // In seconds. What is signed but no time in seconds, such as milliseconds, is out of range too.
      const atMs = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN;
      return Math.abs(nowMs - atMs) <= toleranceMs ? 'valid' : 'outOfRange';
    },
  };
}

/** The challenge that Slack sends to verify a URL; null for any other event. */
export function slackChallenge(kind: WebhookSignature, payload: string): string | null {
  if (kind !== 'slack' || payload.length > challengeCharsMax) return null;
  let event: unknown;
  try {
    event = JSON.parse(payload);
  } catch {
    return null;
  }
  if (!isObject(event) || event.type !== 'url_verification') return null;
  return typeof event.challenge === 'string' ? event.challenge : null;
}

const challengeCharsMax = 10_000;

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
