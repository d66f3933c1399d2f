import { setTimeout as delay } from 'node:timers/promises';

const firstPauseMs = 50;
const pauseMsMax = 1_000;

/**
 * Writes until it is written or the claim is lost: what it says has been paid for, or has happened. While this process holds the
 * execution, no other one repeats it, however long the database is unavailable. Null if the claim is lost first.
 * @param isHeld whether the claim may still be written for, also while its attempt is aborted
 * @param write may write less after a failure
 */
export async function untilWritten<T>(
  isHeld: () => boolean,
  onError: (error: unknown) => void,
  write: (failure: unknown) => Promise<T>,
): Promise<T | null> {
  let failure: unknown = null;
  for (let pauseMs = firstPauseMs; isHeld(); pauseMs = Math.min(pauseMsMax, pauseMs * 2)) {
    try {
      return await write(failure);
    } catch (error) {
      onError(error);
      failure = error;
      await delay(pauseMs);
    }
  }
  return null;
}
