import type { Dispatcher } from 'undici';
import { decompressPieces } from './decompress.ts';
import { interrupted, OutboundFailure } from './outbound-failure.ts';
import { headersFrom, readResponseBody } from './response-body.ts';
import { countStreamValues, responseBytesMax } from './response-limits.ts';

/**
 * Returns a response whose body arrives as it is read, within the limits, decompressed. Reading it throws an
 * `OutboundFailure`, or the reason of the signal. An error response is read at once.
 * @param acquire keeps the connection in use until the returned function is called
 */
export async function streamResponseBody(
  response: Dispatcher.ResponseData,
  signal: AbortSignal | undefined,
  acquire: () => () => void,
): Promise<Response> {
  const { statusCode: status, headers: given, body } = response;
  if (status !== 200) return readResponseBody(response, signal);
  const headers = headersFrom(given);
  const encoding = headers.get('content-encoding') ?? '';
  headers.delete('content-encoding');
  headers.delete('content-length');
  const release = acquire();
  const pieces = decompressPieces(body.iterator({ destroyOnReturn: false }), encoding);
  const leave = () => void discardRest(body).finally(release);
  return new Response(ReadableStream.from(limited(pieces, signal, leave)), { status, headers });
}

async function* limited(
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  leave: () => void,
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
    leave();
  }
}

/** For a reader that leaves before the end: only a connection whose response ends can be reused. */
async function discardRest(body: Dispatcher.ResponseData['body']): Promise<void> {
  if (body.readableEnded) return;
  const signal = AbortSignal.timeout(restMs);
  await body.dump({ limit: responseBytesMax, signal }).catch(() => {});
}

/** The end follows the last event at once, unless a server leaves the body open. */
const restMs = 1_000;

function refused(why: string): OutboundFailure {
  return new OutboundFailure('malformed', `The provider's response ${why}`);
}
