import { sql } from 'kysely';
import { statementTime } from '../connection/clock.ts';
import type { Db } from '../connection/database.ts';

/** How often someone has tried, in windows that begin with the first try. Exact over any number of processes. */

export interface Attempt {
  /** Tries in this window, this one included. */
  readonly count: number;
  /** Until the window ends. */
  readonly leftMs: number;
}

/** Rows of windows long past that one try sweeps away at most. */
const sweptMax = 100;
const keptMs = 86_400_000;
/** A window that begins later than so was begun while the database's clock was ahead. Tries at once are closer together. */
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

/** Takes a try back: it was none that is to be limited. */
export async function undoAttempt(db: Db, key: string): Promise<void> {
  await sql`
    update sign_in_attempts set count = count - 1 where key = ${key} and count > 0`.execute(db);
}

/** Each first try does so, and must not look through all who tried of late. */
export async function sweep(db: Db): Promise<void> {
  await sql`
    delete from sign_in_attempts where id in (
      select id from sign_in_attempts
      where last_request < floor(extract(epoch from ${statementTime}) * 1000)::bigint - ${keptMs}
      order by last_request limit ${sweptMax} for update skip locked)`.execute(db);
}
