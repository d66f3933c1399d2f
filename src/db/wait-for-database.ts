import { setTimeout as delay } from 'node:timers/promises';
import { isUnavailable } from './database-error.ts';

const retryMs = 500;

/**
 * Repeats a read while the database is unavailable, for a response that has begun or is held: its client needs no new
 * request after a failover. Throws the error once `isOver`, and every other error at once.
 */
export async function waitForDatabase<T>(
  read: () => Promise<T>,
  isOver: () => boolean,
): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!isUnavailable(error) || isOver()) throw error;
      await delay(retryMs);
      if (isOver()) throw error;
    }
  }
}
