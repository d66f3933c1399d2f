import type { Dispatcher } from 'undici';
import { OutboundFailure } from './outbound-failure.ts';
import { errorBytesMax, hasTooManyValues, responseValuesMax } from './response-limits.ts';

/**
 * A provider's answer, read as far as it is taken. One that promises success is taken whole or not at all; of any other,
 * compressed, broken off or far too long as it may be, status and headers say what to do.
 */
export async function readResponseBody(
  { statusCode: status, headers: given, body }: Dispatcher.ResponseData,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const headers = headersFrom(given);
  const compressed = (headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity';
  if (status < 200 || status >= 300) {
    const bytes = await beginning(body, signal);
    if (status > 599) throw refused(`The provider answered ${status}, which is no HTTP status.`);
    return new Response(bodiless.has(status) || compressed ? null : bytes, { status, headers });
  }
  const bytes = await body.bytes();
  if (compressed) throw refused('The provider compressed its answer unasked.');
  if (hasTooManyValues(bytes)) {
    throw refused(`The provider's answer has more than ${responseValuesMax} values.`);
  }
  return new Response(bodiless.has(status) ? null : bytes, { status, headers });
}

/** Statuses whose answers have no body, whatever was sent. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

function headersFrom(given: Dispatcher.ResponseData['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    for (const text of [value ?? []].flat()) headers.append(name, text);
  }
  return headers;
}

/** What came of an error until there was enough of it, or until it broke off. */
async function beginning(
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
