import type { Dispatcher } from 'undici';
import { decompressPieces } from './decompress.ts';
import { interrupted, OutboundFailure } from './outbound-failure.ts';
import { headersFrom, readResponseBody } from './response-body.ts';
import { countStreamValues, responseBytesMax } from './response-limits.ts';

/**
 * Returns a response whose body arrives as it is read, within the limits, decompressed. Reading it throws an
 * `OutboundFailure`, or the reason of the signal. An error response is read at once.
 * @param hold holds the connection's place until the returned function is called
 */
export async function streamResponseBody(
  response: Dispatcher.ResponseData,
  signal: AbortSignal | undefined,
  hold: () => () => void,
): Promise<Response> {
  const { statusCode: status, headers: given, body } = response;
  if (status !== 200) return readResponseBody(response, signal);
  const headers = headersFrom(given);
  const encoding = headers.get('content-encoding') ?? '';
  headers.delete('content-encoding');
  headers.delete('content-length');
  const pieces = limited(decompressPieces(body, encoding), signal, hold());
  return new Response(ReadableStream.from(pieces), { status, headers });
}

async function* limited(
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  release: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hasTooMany = countStreamValues();
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > responseBytesMax) throw refused(`has more than ${responseBytesMax} bytes.`);
      if (hasTooMany(piece)) throw refused('has more values than any model returns.');
      yield piece;
    }
  } catch (error) {
    throw signal?.aborted ? error : interrupted(error);
  } finally {
    release();
  }
}

function refused(why: string): OutboundFailure {
  return new OutboundFailure('malformed', `The provider's response ${why}`);
}
