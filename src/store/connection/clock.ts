import { sql } from 'kysely';
import type { Db } from './database.ts';
import { isInvalidParameter } from './database-error.ts';

/**
 * SQL: the time at which a statement asks for it, once. As the bound of an index: `clock_timestamp()` itself is asked for
 * each row, so no index ends there, and all that is not due yet would be read as well.
 */
export const statementTime = sql.raw('(select clock_timestamp())');

/** SQL: nothing is put off for so long. What is due later was put off while the database's clock was ahead. */
export const farthestDueTime = sql`${statementTime} + interval '2 hours'`;

/** The database's time in whole milliseconds: what new identifiers are made of. */
export async function readClock(db: Db): Promise<number> {
  const { rows } = await sql<{ nowMs: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(db);
  return rows[0]?.nowMs ?? Number.NaN;
}

/** The same, where the database knows this time zone as well; else null. */
export async function readClockInZone(db: Db, zone: string): Promise<number | null> {
  try {
    const { rows } = await sql<{ nowMs: number }>`
      select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
        clock_timestamp() at time zone ${zone}`.execute(db);
    return rows[0]?.nowMs ?? Number.NaN;
  } catch (error) {
    if (isInvalidParameter(error)) return null;
    throw error;
  }
}
