import { CallFailure } from '../../../core/failure.ts';
import { Semaphore } from '../../../core/semaphore.ts';

export type HashingLimit = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Limits the password hashes that are computed at once. They share four threads with name resolution and other work of
 * Node, and must leave some of them free.
 */
export function limitHashing(max: {
  readonly concurrent: number;
  readonly waiting: number;
}): HashingLimit {
  const semaphore = new Semaphore(max.concurrent);
  return async (work) => {
    if (!semaphore.isFree && semaphore.waiting >= max.waiting) {
      const fields = { retryAfter: 1 };
      throw new CallFailure('UNAVAILABLE', 'Too many sign-ins at once. Try again.', fields);
    }
    await semaphore.acquire();
    try {
      return await work();
    } finally {
      semaphore.release();
    }
  };
}
