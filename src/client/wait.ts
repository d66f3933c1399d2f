import { retryAfterMs } from './attempt.ts';
import { CuelineError } from './error.ts';
import {
  type CallOptions,
  type ClientOptions,
  type RequestOptions,
  requestTimeoutMsDefault,
} from './request.ts';
import { sleep, timerMsMax } from './retry.ts';

export interface WaitOptions extends CallOptions {
  /** How long to wait in all, in milliseconds; 600,000 unless set, 24 days at most. The run itself goes on after it. */
  readonly timeoutMs?: number;
}

const waitTimeoutMsDefault = 600_000;
/** How long one request is held. Shorter than the patience of the usual proxies. */
const holdSecondsMax = 25;
/** What of the time is left for the answer to arrive, so that the last record is known at the end. */
const answerMs = 500;
/** How many failures in a row a wait outlives: a restart of the server, for example. */
const waitRetries = 10;
/** Between two requests where the server gives no hint. */
const pollMsDefault = 1_000;

/** Reads again and again, each time held by the server for a while, until what is waited for has ended. */
export async function waitFor<Run, Ended extends Run>(
  client: ClientOptions,
  id: string,
  options: WaitOptions,
  run: {
    readonly read: (
      query: { readonly wait?: number },
      options: RequestOptions,
    ) => Promise<{ readonly body: Run; readonly headers: Headers }>;
    readonly hasEnded: (run: Run) => run is Ended;
  },
): Promise<Ended> {
  const timeoutMs = Math.min(options.timeoutMs ?? waitTimeoutMsDefault, timerMsMax);
  const endsAt = performance.now() + timeoutMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  // Half of the patience for one attempt, so that an answer that is held comes in time.
  const heldMsMax = (client.requestTimeoutMs ?? requestTimeoutMsDefault) / 2;
  let last: Run | null = null;
  try {
    for (;;) {
      const leftMs = endsAt - performance.now() - answerMs;
      const hold = Math.min(holdSecondsMax, Math.floor(Math.min(leftMs, heldMsMax) / 1000));
      const query = hold > 0 ? { wait: hold } : {};
      const { body, headers } = await run.read(query, { signal, retries: waitRetries });
      if (run.hasEnded(body)) return body;
      last = body;
      const pauseMs = retryAfterMs(headers) ?? pollMsDefault;
      // Not past the moment at which it is asked for the last time.
      const untilLastMs = endsAt - answerMs - performance.now();
      const cutMs = untilLastMs > 0 ? Math.min(pauseMs, untilLastMs) : pauseMs;
      await (client.sleep ?? sleep)(cutMs, signal);
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!timeout.aborted || error instanceof CuelineError) throw error;
    const message = `${id} has not ended within ${timeoutMs} ms.`;
    throw new CuelineError('WAIT_TIMEOUT', message, { body: last, cause: error });
  }
}
