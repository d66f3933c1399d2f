import { type Dispatcher, request } from 'undici';
import {
  answerBytesMax,
  type PostedTool,
  type PostTool,
  type ToolPost,
} from '../core/tools/tool-post.ts';
import { decompressPieces } from './decompress.ts';
import { aboutURL } from './guard.ts';
import { createRoutes, type OutboundOptions } from './outbound.ts';
import { interrupted, OutboundFailure } from './outbound-failure.ts';

/**
 * Sends requests to tool servers, through the same guard as calls to providers.
 *
 * What matters of a failure is whether the request may have left. Each has a connection of its own: one that is kept may have been
 * closed by the server a moment ago, and then nobody knows whether the request arrived.
 */
export function createPostTool(options: Omit<OutboundOptions, 'timeouts'>): {
  readonly post: PostTool;
  /** Why a server does not answer at all, as public text; null if it does. Asks for headers only, which changes nothing there. */
  readonly reach: (url: string) => Promise<string | null>;
  /** Aborts requests in flight. */
  readonly close: () => Promise<void>;
} {
  const { guarded, close } = createRoutes(options);
  return {
    async post(post) {
      const progress = { hasBegun: false };
      const deadline = AbortSignal.timeout(post.timeoutMs);
      const signal = AbortSignal.any([post.signal, deadline]);
      try {
        const posted = await guarded(new URL(post.url), (dispatcher) =>
          send(noticing(dispatcher, progress), post, signal),
        );
        const isLate = posted.end === 'broken' && deadline.aborted && !post.signal.aborted;
        return isLate ? { ...posted, end: 'late' } : posted;
      } catch (error) {
        if (error instanceof OutboundFailure && error.kind === 'refused')
          return { kind: 'forbidden' };
        if (!progress.hasBegun) return { kind: 'unsent' };
        const why = post.signal.aborted ? 'aborted' : deadline.aborted ? 'timeout' : 'broken';
        return { kind: 'unanswered', why };
      }
    },
    async reach(url) {
      const parsed = new URL(url);
      const signal = AbortSignal.timeout(reachMs);
      try {
        await guarded(parsed, async (dispatcher) => {
          const { body } = await request(parsed, {
            dispatcher,
            method: 'HEAD',
            signal,
            reset: true,
          });
          await body.dump();
        });
        return null;
      } catch (error) {
        if (signal.aborted)
          return `The tool server did not answer within ${reachMs / 1_000} seconds.`;
        const { message } = interrupted(error);
        return aboutURL(message.replace('provider', 'tool server'));
      }
    },
    close,
  };
}

/** A person waits for it. */
const reachMs = 10_000;

/** Notices when a request begins to be written to its connection. */
function noticing(dispatcher: Dispatcher, progress: { hasBegun: boolean }): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const start = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context) => {
      progress.hasBegun = true;
      start?.(controller, context);
    };
    return dispatch(options, handler);
  });
}

async function send(
  dispatcher: Dispatcher,
  { url, headers, body, keptBytes }: ToolPost,
  signal: AbortSignal,
): Promise<Answered> {
  const answer = await request(url, {
    ...{ dispatcher, method: 'POST', body, signal, reset: true },
    headers: { ...headers, 'accept-encoding': 'identity' },
  });
  const [retryAfter = null] = [answer.headers['retry-after']].flat();
  const [encoding = ''] = [answer.headers['content-encoding']].flat();
  const { statusCode: status } = answer;
  const read = await readBody(answer.body, encoding, keptBytes);
  return { kind: 'answered', status, retryAfter, ...read };
}

type Answered = Extract<PostedTool, { kind: 'answered' }>;
type Read = Pick<Answered, 'bytes' | 'length' | 'end'>;

/**
 * Holds the beginning only, because thousands of calls may run at once. Ends the connection of a body that is too long. A body that
 * breaks, or does not end in time, is as long as it came.
 */
async function readBody(
  body: AsyncIterable<Uint8Array>,
  encoding: string,
  keptBytes: number,
): Promise<Read> {
  const pieces: Uint8Array[] = [];
  let [kept, length, isBroken] = [0, 0, false];
  const read = (end: Read['end']) => ({ bytes: Buffer.concat(pieces), length, end });
  async function* arriving() {
    try {
      yield* body;
    } catch (error) {
      isBroken = true;
      throw error;
    }
  }
  try {
    for await (const piece of decompressPieces(arriving(), encoding)) {
      length += piece.length;
      const part = piece.subarray(0, keptBytes - kept);
      kept += part.length;
      if (part.length > 0) pieces.push(part);
      if (length > answerBytesMax) return read('long');
    }
    return read('whole');
  } catch {
    return read(isBroken ? 'broken' : 'unreadable');
  }
}
