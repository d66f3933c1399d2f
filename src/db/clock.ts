import type { Db } from './database.ts';
import { isInvalidParameter } from './database-error.ts';
import { sql } from './sql.ts';

/**
 * SQL: the current time, evaluated once per statement. Use it as an index bound: PostgreSQL evaluates a plain
 * `clock_timestamp()` for every row, so the index scan would also read all rows that are not due yet.
 */
export const statementTime = sql`(select clock_timestamp())`;

/** SQL: no delay exceeds this time. A row that is due later was delayed while the database clock was ahead. */
export const farthestDueTime = sql`${statementTime} + interval '2 hours'`;

/** The database time in whole milliseconds. New identifiers contain it. */
export async function readClock(db: Db): Promise<number> {
  const { rows } = await sql<{ nowMs: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(db);
  return rows[0]?.nowMs ?? Number.NaN;
}

/** Like `readClock`; null if the database does not know the time zone. */
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
