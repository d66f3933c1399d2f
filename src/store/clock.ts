import { sql } from 'kysely';
import type { Db } from './db.ts';

/** The database's time in whole milliseconds: what new identifiers are made of. */
export async function readClock(db: Db): Promise<number> {
  const { rows } = await sql<{ nowMs: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(db);
  return rows[0]?.nowMs ?? Number.NaN;
}

/** The same, where the database knows this time zone as well; else null. */
export async function readClockOf(db: Db, zone: string): Promise<number | null> {
  try {
    const { rows } = await sql<{ nowMs: number }>`
      select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
        clock_timestamp() at time zone ${zone}`.execute(db);
    return rows[0]?.nowMs ?? Number.NaN;
  } catch (error) {
    if ((error as { code?: string }).code === invalidParameterValue) return null;
    throw error;
  }
}

const invalidParameterValue = '22023';
