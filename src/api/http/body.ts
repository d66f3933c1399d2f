import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { bodyBytesMax } from '../../contract/limits.ts';
import { CallFailure } from '../../core/failure.ts';
import { changedNumber, depth, isStorable, jsonDepthMax } from '../../core/json.ts';

/** Bodies, read by hand: on execute even a broken one must travel on as a value, up to the limiter. */
export type RawBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'too-large' | 'unsupported' | 'malformed'; readonly message: string };

const json = /^application\/json\s*(;|$)/i;
const otherCharset = /;\s*charset\s*=(?!\s*(utf-8|"utf-8")\s*(;|$))/i;

export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The one place where bodies are read; 503 where all that are held at the moment leave no room for it. */
export async function readBody(request: FastifyRequest): Promise<RawBody> {
  const { headers } = request.raw;
  const { 'content-length': length, 'transfer-encoding': transfer } = headers;
  if (length === undefined && transfer === undefined) return { kind: 'none' };
  if (Number(length ?? 0) > bodyBytesMax) return tooLarge;
  const bytes = await readBytes(request);
  if (bytes === null) return tooLarge;
  if (bytes.length === 0) return { kind: 'none' };
  if (!isJson(request.raw) || isEncoded(request.raw)) {
    return {
      kind: 'unsupported',
      message: 'The body must be application/json, in UTF-8 and not encoded.',
    };
  }
  try {
    return { kind: 'text', text: decoder.decode(bytes) };
  } catch {
    return { kind: 'malformed', message: 'The body is not valid UTF-8.' };
  }
}

/**
 * All that is sent, or null where that is too much. By events: an iterator costs more than the rest of a request. In one
 * buffer that grows: chunks of a byte that are kept take some two hundred times as much.
 */
function readBytes(request: FastifyRequest): Promise<Buffer | null> {
  const { raw } = request;
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    let length = 0;
    raw.on('data', (chunk: Buffer) => {
      const longer = length + chunk.length;
      if (longer > bodyBytesMax) {
        raw.pause();
        return resolve(null);
      }
      const refusal = request.hold(chunk.length);
      if (refusal) {
        raw.pause();
        return reject(refusal);
      }
      bytes = length === 0 ? chunk : append(bytes, length, chunk);
      length = longer;
    });
    raw.on('end', () => resolve(bytes.subarray(0, length)));
    const cutOff = () => {
      if (raw.complete) return;
      reject(new CallFailure('MALFORMED_BODY', 'The body was cut off.'));
    };
    raw.on('error', cutOff);
    raw.on('close', cutOff);
  });
}

/** What has come so far and what comes now: in the same buffer where it has room, else in one of twice the size. */
function append(bytes: Buffer, length: number, chunk: Buffer): Buffer {
  const longer = length + chunk.length;
  let roomy = bytes;
  if (longer > bytes.length) {
    roomy = Buffer.allocUnsafeSlow(Math.min(2 * longer, bodyBytesMax));
    bytes.copy(roomy, 0, 0, length);
  }
  chunk.copy(roomy, length);
  return roomy;
}

/** By the headers as they came: the server takes the type out of the others, see there. */
function isJson({ rawHeaders }: IncomingMessage): boolean {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && /^content-type$/i.test(name));
  const type = at < 0 ? '' : (rawHeaders[at + 1] ?? '');
  return json.test(type) && !otherCharset.test(type);
}

/** Node undoes the chunks and nothing else, whatever a sender says there is under them. */
function isEncoded({ headers }: IncomingMessage): boolean {
  const { 'content-encoding': content = 'identity', 'transfer-encoding': transfer = 'chunked' } =
    headers;
  return content !== 'identity' || transfer.toLowerCase() !== 'chunked';
}

/** A management body as a value; anything wrong with it is thrown. */
export function parseBody(raw: RawBody): unknown {
  switch (raw.kind) {
    case 'none':
      return undefined;
    case 'too-large':
      throw new CallFailure('BODY_TOO_LARGE', raw.message);
    case 'unsupported':
      throw new CallFailure('UNSUPPORTED_MEDIA_TYPE', raw.message);
    case 'malformed':
      throw new CallFailure('MALFORMED_BODY', raw.message);
    case 'text':
      return parse(raw.text);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

const tooLarge: RawBody = {
  kind: 'too-large',
  message: `The body is larger than ${bodyBytesMax} bytes.`,
};

function parse(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CallFailure('MALFORMED_BODY', 'The body is not valid JSON.');
  }
  if (!isStorable(text)) {
    throw new CallFailure(
      'INVALID_REQUEST',
      'The body holds a NUL or a lone surrogate, which cannot be stored.',
    );
  }
  if (depth(text) > jsonDepthMax) {
    throw new CallFailure('INVALID_REQUEST', `The body nests deeper than ${jsonDepthMax} levels.`);
  }
  const changed = changedNumber(text);
  if (changed !== null) {
    const shown = changed.length > shownCharsMax ? `${changed.slice(0, shownCharsMax)}…` : changed;
    const message = `The number ${shown} would be stored as another one. Send it as a text, or with fewer digits.`;
    throw new CallFailure('INVALID_REQUEST', message);
  }
  return value;
}

/** Of a number in a message. */
const shownCharsMax = 40;
