import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { decompress, decompressBeginning, responseEncoding } from './decompress.ts';
import { OutboundFailure } from './outbound-failure.ts';
import { errorBytesMax, fileBytesMax, hasTooManyValues } from './response-limits.ts';

/**
 * Reads a provider's response within the limits, decompressed. A success must be complete, or at least its
 * JSON; of an error, status and headers decide, even if the body is cut off or too long.
 */
export async function readResponseBody(
  { statusCode: status, headers: given, body }: Dispatcher.ResponseData,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const headers = headersFrom(given);
  const encoding = responseEncoding(headers.get('content-encoding'));
  // It describes the body as sent, not as returned here.
  headers.delete('content-encoding');
  if (status < 200 || status >= 300) {
    const bytes = await readBeginning(body, signal);
    if (status > 599)
      throw refused(`The provider answered ${status}, which is not an HTTP status.`);
    const text = bodiless.has(status) ? null : await decompressBeginning(bytes, encoding);
    return new Response(text?.subarray(0, errorBytesMax) ?? null, { status, headers });
  }
  const { bytes: sent, broken } = await readWhole(body, signal);
  let failure = broken;
  const decompressed = await decompress(sent, encoding).catch((error) => {
    failure ??= error;
    return decompressBeginning(sent, encoding);
  });
  const type = headers.get('content-type') ?? '';
  const bytes = inUtf8(decompressed, type);
  if (hasTooManyValues(bytes, type.startsWith('text/event-stream'))) {
    throw refused("The provider's response has more values than any model returns.");
  }
  // The response was paid for, and nothing of it is missing.
  if (failure && !isJsonObject(bytes)) throw failure;
  return new Response(bodiless.has(status) ? null : bytes, { status, headers });
}

/** Reads a file of at most `fileBytesMax`. Of an error, nothing but status and headers. */
export async function readFileBody(
  { statusCode: status, headers: given, body }: Dispatcher.ResponseData,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const headers = headersFrom(given);
  if (status < 200 || status >= 300) {
    await body.dump({ limit: errorBytesMax, ...(signal && { signal }) }).catch(() => {});
    signal?.throwIfAborted();
    if (status > 599) throw refused(`The answer had the status ${status}.`);
    return new Response(null, { status, headers });
  }
  if (Number(headers.get('content-length') ?? 0) > fileBytesMax) {
    body.destroy();
    throw refused(fileTooLarge);
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    length += piece.length;
    // Leaving the loop closes the connection.
    if (length > fileBytesMax) throw refused(fileTooLarge);
    pieces.push(piece);
  }
  const sent = new Uint8Array(Buffer.concat(pieces));
  const bytes = await decompress(sent, headers.get('content-encoding') ?? '');
  if (bytes.length > fileBytesMax) throw refused(fileTooLarge);
  return new Response(bodiless.has(status) ? null : bytes, { status, headers });
}

const fileTooLarge = `The file has more than ${fileBytesMax} bytes.`;

/** Statuses without a body, whatever was sent. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

export function headersFrom(given: Dispatcher.ResponseData['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    for (const text of [value ?? []].flat()) headers.append(name, text);
  }
  return headers;
}

/** The beginning of an error body: as much as is needed, or as much as arrived. */
async function readBeginning(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(errorBytesMax);
  let length = 0;
  try {
    for await (const piece of body) {
      const fitting = piece.subarray(0, errorBytesMax - length);
      bytes.set(fitting, length);
      length += fitting.length;
      if (length === errorBytesMax) break;
    }
  } catch {
    signal?.throwIfAborted();
  }
  return bytes.subarray(0, length);
}

/** The body as far as it has arrived, and the error if the connection broke before its end. */
async function readWhole(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; broken: unknown }> {
  const pieces: Uint8Array[] = [];
  let broken: unknown = null;
  try {
    for await (const piece of body) pieces.push(piece);
  } catch (error) {
    signal?.throwIfAborted();
    broken = error;
  }
  return { bytes: Buffer.concat(pieces), broken };
}

/** JSON is UTF-8, but some servers use the character set that they name, while others name one that they do not use. */
function inUtf8(bytes: Uint8Array<ArrayBuffer>, contentType: string): Uint8Array<ArrayBuffer> {
  const [, charset] = /;\s*charset="?([\w-]+)/i.exec(contentType) ?? [];
  if (charset === undefined || isUtf8(bytes)) return bytes;
  try {
    return new Uint8Array(Buffer.from(new TextDecoder(charset).decode(bytes)));
  } catch {
    return bytes;
  }
}

/** Whether these bytes, which have been counted, are one JSON object. */
function isJsonObject(bytes: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

function refused(message: string): OutboundFailure {
  return new OutboundFailure('malformed', message);
}
