import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { bodyBytesMax } from '../../../contract/limits.ts';
import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { changedNumber, depth, isStorable, jsonDepthMax } from '../../../core/json.ts';

/** A request body before parsing. It is a value even if it is broken: on execute, the rate limiter decides first. */
export type RawBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'too-large' | 'unsupported' | 'malformed'; readonly message: string };

const json = /^application\/json\s*(;|$)/i;
const jsonLines = /^application\/(jsonl|x-ndjson)\s*(;|$)/i;
const nonUtf8Charset = /;\s*charset\s*=(?!\s*(utf-8|"utf-8")\s*(;|$))/i;

export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Sees the bytes of a body of any type and encoding, even one that is too large, up to `bytesMax`. */
export interface BodyTap {
  readonly bytesMax: number;
  readonly onChunk: (chunk: Uint8Array) => void;
}

/**
 * Reads the body of a request. Throws `MALFORMED_BODY` if the client disconnects before its end, `UNAVAILABLE` without room for
 * it.
 */
export async function readBody(request: FastifyRequest, tap: BodyTap = noTap): Promise<RawBody> {
  const { headers } = request.raw;
  const { 'content-length': length, 'transfer-encoding': transfer } = headers;
  if (length === undefined && transfer === undefined) return { kind: 'none' };
  if (Number(length ?? 0) > tap.bytesMax) return tooLarge;
  const bytes = await readBytes(request, tap);
  if (bytes === null) return tooLarge;
  if (bytes.length === 0) return { kind: 'none' };
  if (!hasType(request.raw, json) || isEncoded(request.raw)) {
    return {
      kind: 'unsupported',
      message: 'The body must be application/json in UTF-8, without a content or transfer coding.',
    };
  }
  try {
    return { kind: 'text', text: decoder.decode(bytes) };
  } catch {
    return { kind: 'malformed', message: 'The body is not valid UTF-8.' };
  }
}

/**
 * The bytes of a body, or null if they exceed `bodyBytesMax`; then no more than the tap wants are read. Uses events, because an iterator costs more than the rest of
 * a request. Uses one growing buffer: a list of one-byte chunks takes about 200 times their size.
 */
function readBytes(request: FastifyRequest, tap: BodyTap): Promise<Buffer | null> {
  const { raw } = request;
  const { bodyBytes } = request.server;
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    let length = 0;
    const end = (failure: CallFailure) => {
      raw.pause();
      raw.removeListener('data', onData);
      bytes = Buffer.alloc(0);
      reject(failure);
    };
    const onData = (chunk: Buffer) => {
      const newLength = length + chunk.length;
      if (newLength > tap.bytesMax) {
        raw.pause();
        return resolve(null);
      }
      tap.onChunk(chunk);
      if (newLength > bodyBytesMax) {
        bytes = Buffer.alloc(0);
        bodyBytes.release(request);
      } else if (!bodyBytes.hold(request, newLength, end)) return end(bodyBytes.failure());
      else bytes = length === 0 ? chunk : append(bytes, length, chunk);
      length = newLength;
    };
    raw.on('data', onData);
    raw.on('end', () => {
      bodyBytes.complete(request);
      resolve(length > bodyBytesMax ? null : bytes.subarray(0, length));
    });
    const rejectIncomplete = () => {
      if (raw.complete) return;
      bodyBytes.release(request);
      reject(new CallFailure('MALFORMED_BODY', 'The body is incomplete.'));
    };
    raw.on('error', rejectIncomplete);
    raw.on('close', rejectIncomplete);
  });
}

/** Appends a chunk, in the same buffer if it fits, else in one of twice the size. */
function append(bytes: Buffer, length: number, chunk: Buffer): Buffer {
  const newLength = length + chunk.length;
  let target = bytes;
  if (newLength > bytes.length) {
    target = Buffer.allocUnsafeSlow(Math.min(2 * newLength, bodyBytesMax));
    bytes.copy(target, 0, 0, length);
  }
  chunk.copy(target, length);
  return target;
}

/** Reads the raw headers, because the server removes `content-type` from the parsed ones. */
function hasType({ rawHeaders }: IncomingMessage, pattern: RegExp): boolean {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && /^content-type$/i.test(name));
  const type = at < 0 ? '' : (rawHeaders[at + 1] ?? '');
  return pattern.test(type) && !nonUtf8Charset.test(type);
}

/** Whether the body is JSON Lines that can be read as a stream. */
export function hasJsonLines(raw: IncomingMessage): boolean {
  return hasType(raw, jsonLines) && !isEncoded(raw);
}

/** The bytes of a body, read no faster than they are used. Throws `MALFORMED_BODY` if the client disconnects before its end. */
export async function* streamBody(raw: IncomingMessage): AsyncGenerator<Buffer, void, undefined> {
  try {
    // A refusal in between still needs the connection for its response.
    yield* raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    if (!raw.destroyed) throw error;
  }
  if (!raw.complete) throw new CallFailure('MALFORMED_BODY', 'The body is incomplete.');
}

/** Node decodes `chunked` and no other coding. */
function isEncoded({ headers }: IncomingMessage): boolean {
  const { 'content-encoding': content = 'identity', 'transfer-encoding': transfer = 'chunked' } =
    headers;
  return content !== 'identity' || transfer.toLowerCase() !== 'chunked';
}

/** The JSON value of a body; undefined without one. Throws the failure of a broken body. */
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

const noTap: BodyTap = { bytesMax: bodyBytesMax, onChunk() {} };

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
    throw invalidRequest('The body contains a NUL or a lone surrogate, which cannot be stored.');
  }
  if (depth(text) > jsonDepthMax) {
    throw invalidRequest(`The body is nested deeper than ${jsonDepthMax} levels.`);
  }
  const changed = changedNumber(text);
  if (changed !== null) {
    const shown = changed.length > shownCharsMax ? `${changed.slice(0, shownCharsMax)}…` : changed;
    const message = `The number ${shown} would lose precision. Send it as a string or with fewer digits.`;
    throw invalidRequest(message);
  }
  return value;
}

/** Characters of a number that a message shows. */
const shownCharsMax = 40;
