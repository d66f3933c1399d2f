import type { Dispatcher } from 'undici';
import { OutboundFailure } from './outbound-failure.ts';
import { errorBytesMax, hasTooManyValues, responseValuesMax } from './response-limits.ts';

/**
 * Reads a provider's response within the limits. A success must be complete; of an error, status and headers decide,
 * even if the body is compressed, cut off or too long.
 */
export async function readResponseBody(
  { statusCode: status, headers: given, body }: Dispatcher.ResponseData,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const headers = headersFrom(given);
  const compressed = (headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity';
  if (status < 200 || status >= 300) {
    const bytes = await readBeginning(body, signal);
    if (status > 599)
      throw refused(`The provider answered ${status}, which is not an HTTP status.`);
    return new Response(bodiless.has(status) || compressed ? null : bytes, { status, headers });
  }
  const bytes = await body.bytes();
  if (compressed)
    throw refused('The provider compressed its response although that was not requested.');
  if (hasTooManyValues(bytes)) {
    throw refused(`The provider's response has more than ${responseValuesMax} values.`);
  }
  return new Response(bodiless.has(status) ? null : bytes, { status, headers });
}

/** Statuses without a body, whatever was sent. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

function headersFrom(given: Dispatcher.ResponseData['headers']): Headers {
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

function refused(message: string): OutboundFailure {
  return new OutboundFailure('malformed', message);
}
