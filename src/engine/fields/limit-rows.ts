import type { Counts } from '../../core/agent/limits.ts';
import type { Db, Trx } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';

/**
 * Locks the rows that count the calls of these keys, agents or workspaces. Admission holds these locks while it decides, so a
 * change under the same lock affects the next call, never one in progress. Lock order: keys, agents, workspaces; never lock
 * two kinds with one call.
 */
export async function lockLimits(trx: Trx, subjects: readonly string[]): Promise<void> {
  await sql`
    select subject from limits where subject = any (${subjects}::uuid[])
    order by subject for update`.execute(trx);
}

/** The counts of a key or agent as admission last wrote them, and the current time to interpret them. */
export interface CountsRow {
  readonly counts: Counts;
  readonly nowMs: number;
}

/** SQL: the columns of a `CountsRow` for the key or agent with that id. */
export function countsOf(subject: Sql) {
  return sql`(select jsonb_build_object('minute', minute, 'minuteUsed', minute_used,
      'hour', hour, 'hourUsed', hour_used, 'day', day, 'dayUsed', day_used)
    from limits where subject = ${subject}) as counts,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`;
}

/** Reads without a lock, for display only. */
export async function readCounts(db: Db, agentId: string): Promise<CountsRow> {
  const { rows } = await sql<CountsRow>`
    select ${countsOf(sql`a.id`)} from agents a where a.id = ${agentId}`.execute(db);
  if (!rows[0]) throw new Error('The agent has no row of limits.');
  return rows[0];
}
