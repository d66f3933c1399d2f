import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Db, Trx } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';

/**
 * Starts a call that is blocked by a lock of `change`, and commits the change once the call waits, after `meanwhile`. The
 * call then sees the state after the change. Fails if the call does not wait.
 */
export async function during<T>(
  db: Db,
  change: (trx: Trx) => Promise<unknown>,
  call: () => Promise<T>,
  meanwhile: (trx: Trx) => Promise<unknown> = async () => {},
): Promise<T> {
  let response: Promise<T> | undefined;
  await db.transaction(async (trx) => {
    await change(trx);
    let ended = false;
    response = call().finally(() => {
      ended = true;
    });
    await untilBlocked(db, 1, () => assert.ok(!ended, 'The call did not wait for the lock.'));
    await meanwhile(trx);
  });
  return response as Promise<T>;
}

/** Resolves once this many connections to the database wait for a lock. Throws what `mayWait` throws before that. */
export async function untilBlocked(
  db: Db,
  connections = 1,
  mayWait: () => void = () => {},
): Promise<void> {
  for (;;) {
    mayWait();
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    if (rows.length >= connections) return;
    await wait(5);
  }
}
