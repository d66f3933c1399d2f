import { statementTime } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** Counts attempts in fixed windows that begin with the first attempt. Exact across processes. */

export interface Attempt {
  /** Attempts in this window, including this one. */
  readonly count: number;
  /** Time until the window ends. */
  readonly leftMs: number;
}

/** The maximum number of expired rows that one attempt deletes. */
const deletedMax = 100;
const retentionMs = 86_400_000;
/** A window that begins further in the future was written while the database clock was ahead. */
const aheadMs = 60_000;

export async function countAttempt(db: Db, key: string, windowMs: number): Promise<Attempt> {
  const isOver = sql`excluded.last_request not between
    a.last_request - ${aheadMs}::bigint and a.last_request + ${windowMs}::bigint - 1`;
  const { rows } = await sql<Attempt>`
    insert into sign_in_attempts as a (id, key, count, last_request)
    values (gen_random_uuid(), ${key}, 1, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
    on conflict (key) do update set
      count = case when ${isOver} then 1 else least(a.count, 1000000) + 1 end,
      last_request = case when ${isOver} then excluded.last_request else a.last_request end
    returning count, (last_request + ${windowMs}::bigint
      - floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as left_ms`.execute(db);
  const attempt = rows[0] ?? { count: 1, leftMs: windowMs };
  if (attempt.count === 1) await sweep(db);
  return attempt;
}

/** Undoes the count of an attempt that does not count towards the limit. */
export async function undoAttempt(db: Db, key: string): Promise<void> {
  await sql`
    update sign_in_attempts set count = count - 1 where key = ${key} and count > 0`.execute(db);
}

/** Deletes the attempts of a user. The last part of a key is the account. */
export async function deleteAttemptsOf(
  db: Db,
  user: { readonly id: string; readonly email: string },
): Promise<void> {
  await sql`
    delete from sign_in_attempts
    where split_part(key, '|', 3) in (${user.id}, ${user.email})`.execute(db);
}

/**
 * Deletes some expired rows, which hold addresses of people. Returns how many. Every first attempt calls it, so it must not
 * scan recent rows; maintenance calls it, because there may be no further attempt.
 */
export async function sweep(db: Db, limit = deletedMax): Promise<number> {
  const { rowCount } = await sql`
    delete from sign_in_attempts where id in (
      select id from sign_in_attempts
      where last_request < floor(extract(epoch from ${statementTime}) * 1000)::bigint - ${retentionMs}
      order by last_request limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}
