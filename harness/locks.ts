import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db, Trx } from '../src/store/connection/database.ts';

/**
 * Starts a call that is blocked by a lock of `change`, and commits the change once the call waits, after `meanwhile`. The
 * call then sees the state after the change.
 */
export async function during<T>(
  db: Db,
  change: (trx: Trx) => Promise<unknown>,
  call: () => Promise<T>,
  meanwhile: (trx: Trx) => Promise<unknown> = async () => {},
): Promise<T> {
  let response: Promise<T> | undefined;
  await db.transaction().execute(async (trx) => {
    await change(trx);
    response = call();
    await untilBlocked(db);
    await meanwhile(trx);
  });
  return response as Promise<T>;
}

/** Resolves once this many connections to the database wait for a lock. */
export async function untilBlocked(db: Db, connections = 1): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    if (rows.length >= connections) return;
    await wait(5);
  }
}
