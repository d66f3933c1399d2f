const firstDelayMs = 500;
const delayMsMax = 60_000;

/**
 * The delay before the next attempt: exponential backoff from half a second with 50 % jitter, and at least what the
 * provider asked for.
 * @param failures attempts that have failed so far, at least 1
 * @param random between 0 and 1
 */
export function retryDelayMs(failures: number, retryAfterMs: number, random: number): number {
  const backoff = Math.min(delayMsMax, firstDelayMs * 2 ** (failures - 1));
  return Math.round(retryAfterMs + backoff * (0.5 + random));
}
