import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Rounds of housekeeping that one process at a time is enough for. */
export type JobName = 'retention' | 'rollup';

/**
 * Whether this process is to make the round now: nobody has begun or kept it within that time. A row, not a lock of a
 * session: a round has many transactions, and behind a pooler each may have another session. One that is to begin has been
 * begun while the database's clock was ahead, and is made; at `infinity` it is switched off.
 */
export async function tryStartJob(db: Db, name: JobName, withinMs: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update maintenance_jobs set begun_at = clock_timestamp()
    where name = ${name} and isfinite(begun_at) and begun_at not between
      clock_timestamp() - ${withinMs} * interval '1 millisecond' and clock_timestamp() + interval '1 minute'`.execute(
    db,
  );
  return (numAffectedRows ?? 0n) > 0n;
}

/** Keeps others from beginning it while it goes on. Two at once would do no harm, only work for nothing. */
export async function renewJob(db: Db, name: JobName): Promise<void> {
  await sql`update maintenance_jobs set begun_at = clock_timestamp() where name = ${name}`.execute(
    db,
  );
}

/** The agent with which the round before ran out of time; less than all where it did not. */
export async function readJobCursor(db: Db, name: JobName): Promise<string> {
  const { rows } = await sql<{ reached: string }>`
    select reached from maintenance_jobs where name = ${name}`.execute(db);
  if (!rows[0]) throw new Error(`there is no round of ${name}`);
  return rows[0].reached;
}

export async function writeJobCursor(db: Db, name: JobName, agentId: string): Promise<void> {
  await sql`update maintenance_jobs set reached = ${agentId} where name = ${name} and reached <> ${agentId}`.execute(
    db,
  );
}
