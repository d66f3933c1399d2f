import type { Dispatcher } from 'undici';
import { request } from 'undici';
import { secretsOfURL } from '../core/event/endpoint.ts';
import type { Post, PostAnswer, PostEvent } from '../core/event/post.ts';
import { answerCharsMax } from '../core/event/retry.ts';
import { aboutURL } from './guard.ts';
import { createRoutes, type OutboundOptions } from './outbound.ts';
import { interrupted, OutboundFailure } from './outbound-failure.ts';

/**
 * Sends events to endpoints, through the same guard as calls to providers. The status decides, so only the beginning of the
 * body is read, and only for a while: a receiver may send a gigabyte, or a byte per second. Redirects are never followed.
 */
export function createPostEvent({
  hideSecrets,
  ...options
}: Omit<OutboundOptions, 'timeouts'> & {
  /** Removes secrets from a text. */
  readonly hideSecrets: (text: string, secrets: readonly string[]) => string;
}): {
  readonly post: PostEvent;
  /** Aborts requests in flight. */
  readonly close: () => Promise<void>;
} {
  const { guarded, close } = createRoutes(options);
  return {
    async post({ url, ...post }) {
      const parsed = new URL(url);
      try {
        const answer = await guarded(parsed, (dispatcher) => send(dispatcher, parsed, post));
        // Before the text is cut, so that no part of a secret remains.
        const text = hideSecrets(answer.text, secretsOfURL(url));
        return { ...answer, text: Array.from(text).slice(0, answerCharsMax).join('') };
      } catch (error) {
        throw post.signal.aborted ? error : forReceivers(error);
      }
    },
    close,
  };
}

async function send(
  dispatcher: Dispatcher,
  url: URL,
  { headers, body, signal }: Omit<Post, 'url'>,
): Promise<PostAnswer> {
  const answer = await request(url, {
    dispatcher,
    method: 'POST',
    body,
    signal,
    headers: { ...headers, 'accept-encoding': 'identity' },
  });
  const retryAfter = [answer.headers['retry-after']].flat()[0] ?? null;
  return { status: answer.statusCode, retryAfter, text: await readBeginning(answer.body) };
}

/** At most four bytes form a character. */
const answerBytesMax = answerCharsMax * 4;
const answerMsMax = 2_000;

/** Ends the connection unless the whole body is shorter. */
async function readBeginning(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  body.on('error', () => {});
  const timer = setTimeout(() => body.destroy(), answerMsMax);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= answerBytesMax) break;
    }
  } catch {
    // The status has arrived: an incomplete body changes nothing.
  } finally {
    clearTimeout(timer);
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, answerBytesMax));
}

function forReceivers(error: unknown): OutboundFailure {
  const { kind, message } = interrupted(error);
  return new OutboundFailure(kind, aboutURL(message.replace('provider', 'receiver')), error);
}
