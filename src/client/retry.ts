import { CuelineError } from './error.ts';

/** When a call that failed is tried again, and how long to wait before. */

/** A server that asks for more than this is not waited for: the caller decides. */
export const retryAfterMsMax = 60_000;
/** A timer that is set for longer goes off at once. */
export const timerMsMax = 2 ** 31 - 1;
const backoffMsFirst = 500;
const backoffMsMax = 10_000;

export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

/**
 * Whether another attempt can help and can do no harm. A limit, and a server that says it took nothing, are safe for
 * any call; where the first attempt may have come through, only a call that can be `repeated` is.
 */
export function mayRetry(error: unknown, repeatable: boolean): error is CuelineError {
  if (!(error instanceof CuelineError)) return false;
  if ((error.retryAfterMs ?? 0) > retryAfterMsMax) return false;
  if (error.status === 429 || error.code === 'UNAVAILABLE') return true;
  return repeatable && (error.status === 0 || [502, 503, 504].includes(error.status));
}

/** What the server asks for, else longer and longer; with jitter, so that many clients do not come back at once. */
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
