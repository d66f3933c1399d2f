import { sql } from 'kysely';
import type { Db } from './db.ts';

/**
 * What became of a transaction whose commit was never answered. It is asked by its number first, then by the rows it
 * would have written, in a snapshot of its own: a number alone means nothing after a failover to another server.
 */
export async function findOutcome(
  db: Db,
  xid: string,
  executionId: string,
): Promise<'committed' | 'aborted' | 'in progress'> {
  const { rows: states } = await sql<{ state: string | null }>`
    select pg_xact_status(${xid}::xid8) as state`.execute(db);
  if (states[0]?.state === 'in progress') return 'in progress';
  const { rows } = await sql`select from executions where id = ${executionId}`.execute(db);
  return rows.length > 0 ? 'committed' : 'aborted';
}
