import { sql } from 'kysely';
import type { Ground } from './ground.ts';

/**
 * The clock of a ground's database, which can be made to leap: PostgreSQL's functions are shadowed in that database by
 * ones that add a shift. Windows and months so turn without anybody waiting, and turn back, too.
 */
export interface Clock {
  /** What the database takes the time to be, in milliseconds. */
  nowMs(): Promise<number>;
  /** Answers the time after the leap. */
  leap(byMs: number): Promise<number>;
}

/** Before the first process is spawned: the search path holds for connections that are made from now on. */
export async function shadowClock({
  db,
  connection,
}: Pick<Ground, 'db' | 'connection'>): Promise<Clock> {
  await sql
    .raw(`
    create unlogged table clock_shifts (at timestamptz, by interval);
    insert into clock_shifts values ('-infinity', '0');
    create function shift_at(timestamptz) returns interval language sql volatile as
      'select by from public.clock_shifts where at <= $1 order by at desc limit 1';
    create function public.clock_timestamp() returns timestamptz language sql volatile as
      'select pg_catalog.clock_timestamp() + public.shift_at(pg_catalog.clock_timestamp())';
    create function public.now() returns timestamptz language sql volatile as
      'select pg_catalog.now() + public.shift_at(pg_catalog.now())';
    alter database ${connection.database} set search_path = public, pg_catalog`)
    .execute(db);
  const nowMs = async () => {
    const { rows } = await sql<{ ms: number }>`
      select (extract(epoch from public.clock_timestamp()) * 1000)::float8 as ms`.execute(db);
    return rows[0]?.ms ?? Number.NaN;
  };
  const leap = async (byMs: number) => {
    await sql`
      insert into clock_shifts
      select pg_catalog.clock_timestamp(), by + ${byMs} * interval '1 millisecond'
      from clock_shifts order by at desc limit 1`.execute(db);
    return nowMs();
  };
  let leapt: Promise<unknown> = Promise.resolve();
  return {
    nowMs,
    leap(byMs) {
      // One after the other: of two at once the later would take the earlier back.
      const mine = leapt.then(() => leap(byMs));
      leapt = mine.catch(() => {});
      return mine;
    },
  };
}
