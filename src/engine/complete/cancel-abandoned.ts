import { setTimeout as delay } from 'node:timers/promises';
import { isUnavailable } from '../../db/database-error.ts';

const waitsMs = [500, 2_000, 5_000, 10_000, 20_000];

/**
 * Cancels a call that nobody waits for any more. It costs money, so this tries again while the database is unavailable, unless
 * the process stops.
 */
export async function cancelAbandoned(
  cancel: () => Promise<boolean>,
  waiters: { readonly closed: boolean },
): Promise<void> {
  for (const waitMs of waitsMs) {
    try {
      await cancel();
      return;
    } catch (error) {
      if (!isUnavailable(error) || waiters.closed) throw error;
      await delay(waitMs, undefined, { ref: false });
    }
  }
  await cancel();
}
