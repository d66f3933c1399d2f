import { retryAfterMs } from './client-attempt.ts';
import { sleep, timerMsMax } from './client-retry.ts';
import { CuelineError } from './error.ts';
import {
  type CallOptions,
  type ClientOptions,
  type RequestOptions,
  requestTimeoutMsDefault,
} from './request.ts';

export interface WaitOptions extends CallOptions {
  /**
   * Timeout of the wait in milliseconds. Default: 600,000; maximum: 24 days. The execution
   * continues after a timeout.
   */
  readonly timeoutMs?: number;
}

const waitTimeoutMsDefault = 600_000;
/** Duration of one long poll. Shorter than the timeout of common proxies. */
const waitSecondsMax = 25;
/** Time reserved for the last response, so that the last record is known at the timeout. */
const lastResponseMs = 500;
/** Consecutive failures that a wait tolerates, for example during a restart of the server. */
const waitRetries = 10;
/** Delay between polls without `Retry-After`. */
const pollMsDefault = 1_000;

/** Long-polls until the record has ended. */
export async function waitFor<State, Ended extends State>(
  client: ClientOptions,
  id: string,
  options: WaitOptions,
  record: {
    readonly read: (
      query: { readonly wait?: number },
      options: RequestOptions,
    ) => Promise<{ readonly body: State; readonly headers: Headers }>;
    readonly hasEnded: (body: State) => body is Ended;
  },
): Promise<Ended> {
  const timeoutMs = Math.min(options.timeoutMs ?? waitTimeoutMsDefault, timerMsMax);
  const endsAt = performance.now() + timeoutMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  // Half of the attempt's timeout, so that the response of a long poll arrives in time.
  const waitMsMax = (client.requestTimeoutMs ?? requestTimeoutMsDefault) / 2;
  let last: State | null = null;
  try {
    for (;;) {
      const leftMs = endsAt - performance.now() - lastResponseMs;
      const waitSeconds = Math.min(waitSecondsMax, Math.floor(Math.min(leftMs, waitMsMax) / 1000));
      const query = waitSeconds > 0 ? { wait: waitSeconds } : {};
      const { body, headers } = await record.read(query, { signal, retries: waitRetries });
      if (record.hasEnded(body)) return body;
      last = body;
      const pauseMs = retryAfterMs(headers) ?? pollMsDefault;
      // The pause ends at the latest at the time of the last poll.
      const untilLastPollMs = endsAt - lastResponseMs - performance.now();
      const delayMs = untilLastPollMs > 0 ? Math.min(pauseMs, untilLastPollMs) : pauseMs;
      await (client.sleep ?? sleep)(delayMs, signal);
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!timeout.aborted || error instanceof CuelineError) throw error;
    const message = `${id} has not ended within ${timeoutMs} ms.`;
    throw new CuelineError('WAIT_TIMEOUT', message, { body: last, cause: error });
  }
}
