import { sql } from 'kysely';
import type { Counts } from '../../core/execution/limits.ts';
import type { Db, Trx } from '../connection/database.ts';

/**
 * Locks the rows that the calls of these keys, agents or workspaces are counted in. Admission holds them while it
 * decides, so what is changed under this lock takes effect with the next call and never in the midst of one.
 * Keys are locked before agents, agents before workspaces: never lock two kinds with one call.
 */
export async function lockLimits(trx: Trx, subjects: readonly string[]): Promise<void> {
  await sql`
    select subject from limits where subject = any (${subjects}::uuid[])
    order by subject for update`.execute(trx);
}

/** What a key or an agent has let past, as admission last wrote it, and the time to look at that. */
export interface CountsRow {
  readonly counts: Counts;
  readonly nowMs: number;
}

/** The columns of a `CountsRow`, of the key or agent with that id. */
export function counted(subject: string) {
  return sql.raw(`(select jsonb_build_object('minute', minute, 'minuteUsed', minute_used,
      'hour', hour, 'hourUsed', hour_used, 'day', day, 'dayUsed', day_used)
    from limits where subject = ${subject}) as counts,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`);
}

/** Without the lock: nothing is decided by it. */
export async function readCounts(db: Db, agentId: string): Promise<CountsRow> {
  const { rows } = await sql<CountsRow>`
    select ${counted('a.id')} from agents a where a.id = ${agentId}`.execute(db);
  if (!rows[0]) throw new Error('an agent without a row of limits');
  return rows[0];
}
