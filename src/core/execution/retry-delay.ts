const firstDelayMs = 500;
const delayMsMax = 60_000;

/**
 * The delay before the next call: what the provider asked for, else exponential backoff from half a second; both with
 * jitter.
 * @param calls calls that have failed so far, at least 1
 * @param random between 0 and 1
 */
export function retryDelayMs(calls: number, retryAfterMs: number, random: number): number {
  const doublings = retryAfterMs > 0 ? 0 : calls - 1;
  const backoff = Math.min(delayMsMax, firstDelayMs * 2 ** doublings);
  return Math.round(retryAfterMs + backoff * (0.5 + random));
}

/** With less time left, an execution makes no further call. */
const leftMsMin = 1_000;

/**
 * A delay that ends before the execution's deadline: a backoff never ends an execution. If the delay is too long, the
 * execution returns about halfway to its deadline; null if no time is left for another call.
 * @param random between 0 and 1: executions with the same deadline must not return together
 */
export function delayWithin(leftMs: number, delayMs: number, random: number): number | null {
  if (delayMs < leftMs) return delayMs;
  return leftMs > leftMsMin ? Math.round(leftMs * (0.25 + random / 2)) : null;
}
