import { CuelineError } from './error.ts';

/** Decides whether a failed request is retried, and computes the delay. */

/** A longer `Retry-After` is not awaited: the caller decides. */
export const retryAfterMsMax = 60_000;
/** A longer timer fires immediately. */
export const timerMsMax = 2 ** 31 - 1;
const backoffMsFirst = 500;
const backoffMsMax = 10_000;

export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

/**
 * Whether a retry can help and is safe. A rate limit, and a server that processed nothing, are safe
 * for any call. If the first attempt may have been processed, only a `repeatable` call is retried.
 */
export function mayRetry(error: unknown, repeatable: boolean): error is CuelineError {
  if (!(error instanceof CuelineError)) return false;
  if ((error.retryAfterMs ?? 0) > retryAfterMsMax) return false;
  if (error.status === 429 || error.code === 'UNAVAILABLE') return true;
  return repeatable && (error.status === 0 || [502, 503, 504].includes(error.status));
}

/**
 * The delay requested by the server, else exponential backoff. Jitter spreads the retries of many
 * clients.
 */
export function delayMs(error: CuelineError, failures: number): number {
  const backoff = Math.min(backoffMsMax, backoffMsFirst * 2 ** (failures - 1));
  return (error.retryAfterMs ?? backoff / 2) + (Math.random() * backoff) / 2;
}

export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
