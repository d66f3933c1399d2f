import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { CallFailure, invalidRequest } from '../../core/failure.ts';
import { hasMoreNames, unstorableJson } from '../../core/json.ts';
import { decodeUtf8, notUtf8 } from '../../core/utf8.ts';
import { bodyBytesMax, bodyNamesMax } from '../contract/contract-limits.ts';

/** A request body before parsing. It is a value even if it is broken: on execute, the rate limiter decides first. */
export type RawBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'too-large' | 'unsupported' | 'malformed'; readonly message: string };

/** Or one above `bodyBytesMax`, which is decoded off the event loop. */
export type CallBytes = RawBody | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

const json = /^application\/json\s*(;|$)/i;
const jsonLines = /^application\/(jsonl|x-ndjson)\s*(;|$)/i;
const nonUtf8Charset = /;\s*charset\s*=(?!\s*(utf-8|"utf-8")\s*(;|$))/i;

export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Sees the bytes of a body of any type and encoding as they are sent, even one that is too large, up to `bytesMax`. */
export interface BodyTap {
  readonly bytesMax: number;
  readonly onChunk: (chunk: Uint8Array) => void;
}

/** How long the body of a call may be. */
export interface CallBodyLimit {
  readonly bytesMax: number;
  /**
   * Asked once, before more than `bodyBytesMax` of a body are read or any of it is decompressed: whether its sender may send more. Without a key that may call,
   * nobody makes the process hold more.
   */
  readonly mayBeLong: () => Promise<boolean>;
}

/**
 * Reads the body of a request. Throws `MALFORMED_BODY` if the client disconnects before its end, `UNAVAILABLE` without room for
 * it.
 */
export async function readBody(request: FastifyRequest, tap?: BodyTap): Promise<RawBody> {
  const raw = await readBytes(request, { bytesMax: bodyBytesMax, tap: tap ?? null });
  return raw.kind === 'bytes' ? textOf(raw.bytes) : raw;
}

/** Likewise for the body of a call. */
export async function readCallBody(
  request: FastifyRequest,
  limit: CallBodyLimit,
): Promise<CallBytes> {
  const raw = await readBytes(request, { ...limit, tap: null });
  return raw.kind === 'bytes' && raw.bytes.length <= bodyBytesMax ? textOf(raw.bytes) : raw;
}

interface BytesOptions extends Partial<CallBodyLimit> {
  readonly bytesMax: number;
  readonly tap: BodyTap | null;
}

async function readBytes(request: FastifyRequest, options: BytesOptions): Promise<CallBytes> {
  const { raw } = request;
  const { 'content-length': length, 'transfer-encoding': transfer } = raw.headers;
  if (length === undefined && transfer === undefined) return { kind: 'none' };
  const { bytesMax, tap } = options;
  const decoder = options.mayBeLong ? decoderOf(raw) : null;
  const sentMax = tap?.bytesMax ?? (decoder ? 2 * bytesMax : bytesMax);
  if (Number(length ?? 0) > sentMax) return tooLarge(bytesMax);
  const bytes = await new BodyReader(request, { ...options, sentMax, decoder }).read();
  if (!Buffer.isBuffer(bytes)) return bytes;
  if (bytes.length === 0) return { kind: 'none' };
  if (!hasType(raw, json) || hasTransferCoding(raw) || (hasContentCoding(raw) && !decoder)) {
    return {
      kind: 'unsupported',
      message:
        'The body must be application/json in UTF-8, without a transfer coding and without a content coding, but for gzip or deflate of the body of a call.',
    };
  }
  return { kind: 'bytes', bytes };
}

function textOf(bytes: Uint8Array): RawBody {
  const text = decodeUtf8(bytes);
  return text === null ? { kind: 'malformed', message: notUtf8 } : { kind: 'text', text };
}

interface ReaderOptions extends BytesOptions {
  /** Of the body as it is sent. */
  readonly sentMax: number;
  readonly decoder: Transform | null;
}

/**
 * Reads the bytes of a body, decompressed. One that is too large is read no further, except for what its tap wants.
 *
 * - Uses events, because an iterator costs more than the rest of a request.
 * - Uses one growing buffer: a list of one-byte chunks takes about 200 times their size.
 * - A body is decompressed piece by piece, and each piece counts before the next one is: what a short body expands to is never held
 *   beyond the limit.
 */
class BodyReader {
  readonly #request: FastifyRequest;
  readonly #options: ReaderOptions;
  /** What is read: the request, or what it is decompressed to. */
  readonly #source: Readable;
  readonly #done = Promise.withResolvers<Buffer | RawBody>();
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #sent = 0;
  #isTooLarge = false;
  #isEnded = false;

  constructor(request: FastifyRequest, options: ReaderOptions) {
    this.#request = request;
    this.#options = options;
    this.#source = options.decoder ?? request.raw;
  }

  read(): Promise<Buffer | RawBody> {
    const { raw } = this.#request;
    raw.once('error', this.#onClose);
    raw.once('close', this.#onClose);
    // A few bytes expand to many.
    if (this.#options.decoder) void this.#requireLong(() => this.#start());
    else this.#start();
    return this.#done.promise;
  }

  #start(): void {
    const { raw } = this.#request;
    const { decoder, tap } = this.#options;
    if (decoder || tap) raw.on('data', this.#onSent);
    this.#source.on('data', this.#onData);
    this.#source.once('end', this.#onEnd);
    if (!decoder) return;
    decoder.once('error', () => this.#stop(notCompressed));
    raw.pipe(decoder);
  }

  readonly #onSent = (chunk: Buffer) => {
    this.#sent += chunk.length;
    if (this.#sent > this.#options.sentMax) this.#stop(tooLarge(this.#options.bytesMax));
    else this.#options.tap?.onChunk(chunk);
  };

  readonly #onData = (chunk: Buffer) => {
    const { bytesMax, tap, decoder } = this.#options;
    const { bodyBytes } = this.#request.server;
    const newLength = this.#length + chunk.length;
    if (this.#isTooLarge) return;
    if (newLength > bytesMax) {
      return tap ? this.#readForTap() : this.#stop(tooLarge(bytesMax));
    }
    if (!bodyBytes.hold(this.#request, newLength, (failure) => this.#fail(failure))) {
      return this.#fail(bodyBytes.failure());
    }
    const isFirstBeyond = this.#length <= bodyBytesMax && newLength > bodyBytesMax;
    this.#append(chunk);
    if (!isFirstBeyond || decoder) return;
    this.#source.pause();
    void this.#requireLong(() => this.#source.resume());
  };

  /** Only the tap wants the rest. */
  #readForTap(): void {
    this.#isTooLarge = true;
    this.#bytes = Buffer.alloc(0);
    this.#request.server.bodyBytes.release(this.#request);
  }

  async #requireLong(proceed: () => void): Promise<void> {
    const { mayBeLong, bytesMax } = this.#options;
    try {
      const mayContinue = (await mayBeLong?.()) ?? false;
      if (this.#isEnded) return;
      if (mayContinue) proceed();
      else this.#stop(tooLarge(bytesMax));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Appends a chunk, in the same buffer if it fits, else in one of twice the size. */
  #append(chunk: Buffer): void {
    const newLength = this.#length + chunk.length;
    if (this.#length === 0) this.#bytes = chunk;
    else {
      if (newLength > this.#bytes.length) {
        const target = Buffer.allocUnsafeSlow(this.#capacity(newLength));
        this.#bytes.copy(target, 0, 0, this.#length);
        this.#bytes = target;
      }
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = newLength;
  }

  #capacity(bytes: number): number {
    const { bytesMax, decoder } = this.#options;
    const { 'content-length': announced = Infinity } = this.#request.raw.headers;
    return Math.min(2 * bytes, decoder ? Infinity : Number(announced), bytesMax);
  }

  readonly #onEnd = () => {
    this.#request.server.bodyBytes.complete(this.#request);
    this.#end(
      this.#isTooLarge ? tooLarge(this.#options.bytesMax) : this.#bytes.subarray(0, this.#length),
    );
  };

  readonly #onClose = () => {
    if (!this.#request.raw.complete) {
      this.#fail(new CallFailure('MALFORMED_BODY', 'The body is incomplete.'));
    }
  };

  /** Reads no further. */
  #stop(body: RawBody): void {
    this.#request.server.bodyBytes.release(this.#request);
    this.#end(body);
  }

  #fail(error: unknown): void {
    this.#request.server.bodyBytes.release(this.#request);
    this.#done.reject(error);
    this.#end({ kind: 'none' });
  }

  #end(body: Buffer | RawBody): void {
    const { raw } = this.#request;
    this.#isEnded = true;
    this.#done.resolve(body);
    this.#bytes = Buffer.alloc(0);
    raw.off('data', this.#onSent);
    this.#source.off('data', this.#onData);
    const { decoder } = this.#options;
    if (decoder) {
      raw.unpipe(decoder);
      decoder.destroy();
    }
    if (!raw.complete) raw.pause();
  }
}

/** Null for a body that is not compressed, or in another way. */
function decoderOf({ headers }: IncomingMessage): Transform | null {
  switch (headers['content-encoding']?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    default:
      return null;
  }
}

/** Reads the raw headers, because the server removes `content-type` from the parsed ones. */
function hasType({ rawHeaders }: IncomingMessage, pattern: RegExp): boolean {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && /^content-type$/i.test(name));
  const type = at < 0 ? '' : (rawHeaders[at + 1] ?? '');
  return pattern.test(type) && !nonUtf8Charset.test(type);
}

/** Whether the body is JSON Lines that can be read as a stream. */
export function hasJsonLines(raw: IncomingMessage): boolean {
  return hasType(raw, jsonLines) && !hasTransferCoding(raw) && !hasContentCoding(raw);
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
function hasTransferCoding({ headers }: IncomingMessage): boolean {
  return (headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked';
}

function hasContentCoding({ headers }: IncomingMessage): boolean {
  return (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';
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

function tooLarge(bytesMax: number): RawBody {
  const setting =
    bytesMax === bodyBytesMax
      ? ''
      : ' (CUELINE_CALL_BODY_BYTES, at most nine tenths of CUELINE_BODY_BYTES)';
  return { kind: 'too-large', message: `The body is larger than ${bytesMax} bytes${setting}.` };
}

const notCompressed: RawBody = {
  kind: 'malformed',
  message: 'The body is not compressed as its Content-Encoding says.',
};

function parse(text: string): unknown {
  if (hasMoreNames(text, bodyNamesMax)) {
    throw invalidRequest(`The body has more than ${bodyNamesMax} different names of fields.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CallFailure('MALFORMED_BODY', 'The body is not valid JSON.');
  }
  const problem = unstorableJson(text, 'The body');
  if (problem !== null) throw invalidRequest(problem);
  return value;
}
