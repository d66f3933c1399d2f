import { sql } from '../src/db/sql.ts';
import type { ProofEnvironment } from './environment.ts';

/**
 * A database clock that can jump, so that windows and months change without waiting. In this database only, functions
 * that add an offset shadow PostgreSQL's clock functions.
 */
export interface Clock {
  /** The database's time, in milliseconds. */
  nowMs(): Promise<number>;
  /** Returns the time after the jump. */
  leap(byMs: number): Promise<number>;
}

/** Call it before the first process starts: the search path applies to new connections only. */
export async function shadowClock({
  db,
  connection,
}: Pick<ProofEnvironment, 'db' | 'connection'>): Promise<Clock> {
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
      // Serialized: of two concurrent jumps the second would undo the first.
      const mine = leapt.then(() => leap(byMs));
      leapt = mine.catch(() => {});
      return mine;
    },
  };
}
