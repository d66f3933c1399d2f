import { CuelineError } from './error.ts';
import type { WebhookData } from './wire.ts';

/** Verifies events that Cueline sends to an endpoint: signatures of Standard Webhooks. */

/** An event. Compare `type` to narrow `data`. */
export type WebhookEvent = {
  [Type in keyof WebhookData]: {
    /** The same in all attempts. Ignore one that you have processed. */
    readonly id: string;
    readonly type: Type;
    readonly timestamp: string;
    readonly data: WebhookData[Type];
  };
}[keyof WebhookData];

/** The headers of a request: those of `fetch` or of Node. */
export type WebhookHeaders =
  | Pick<Headers, 'get'>
  | { readonly [name: string]: string | readonly string[] | undefined };

export interface VerifyOptions {
  /** How far the timestamp may be from this machine's clock. Default: 300. */
  readonly toleranceSeconds?: number;
}

const toleranceSecondsDefault = 300;
const secretPrefix = 'whsec_';

/**
 * The event of a request, once its signature is verified.
 * @param body as received, before anything parses it
 * @param secret of the endpoint; several while one is replaced
 * @throws {CuelineError} `INVALID_SIGNATURE` if it does not come from Cueline, or is too old: answer 401
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = toleranceSecondsDefault }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const bytes = bytesOf(body);
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature').split(' ');
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  // Also fails if it is no number.
  if (!(Math.abs(Date.now() / 1000 - seconds) <= toleranceSeconds)) {
    throw invalid('The timestamp is too old or too new. Check the clock of this machine.');
  }
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const expected = await Promise.all(secrets.map((one) => signatureOf(signed, one)));
  // One HMAC for each secret, however many signatures are sent.
  const isSigned = signatures.some((given) => expected.some((own) => isSame(given, own)));
  if (!isSigned) throw invalid('The signature does not match. Check the secret of the endpoint.');
  const { type, timestamp: at, data } = JSON.parse(new TextDecoder().decode(bytes));
  return { id, type, timestamp: at, data };
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new TypeError('Pass the body as received: a text or bytes, not what was parsed of it.');
}

function header(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : (headers as Record<string, string | string[] | undefined>)[name];
  const text = Array.isArray(value) ? value[0] : value;
  if (!text) throw invalid(`The request has no header "${name}".`);
  return text;
}

async function signatureOf(signed: Uint8Array<ArrayBuffer>, secret: string): Promise<string> {
  const key = await crypto.subtle.importKey(
    'raw',
    keyOf(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
  return `v1,${btoa(String.fromCharCode(...mac))}`;
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const text = secret.trim();
  const encoded = text.slice(secretPrefix.length);
  if (!text.startsWith(secretPrefix) || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
    throw new TypeError('The secret is none of an endpoint, which begins with whsec_.');
  }
  return Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** In a time that does not depend on where they differ. */
function isSame(given: string, own: string): boolean {
  let difference = given.length ^ own.length;
  for (let index = 0; index < own.length; index++) {
    difference |= given.charCodeAt(index) ^ own.charCodeAt(index);
  }
  return difference === 0;
}

function invalid(message: string): CuelineError {
  return new CuelineError('INVALID_SIGNATURE', message);
}
