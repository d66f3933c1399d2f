import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** Maintenance jobs that run in one process at a time. */
export type JobName = 'retention' | 'rollup';

/**
 * Starts a job unless another process started or renewed it within `withinMs`. Returns whether it started. A row instead of a
 * session lock, because a job has many transactions, and behind a pooler each may run in another session. A start time in
 * the future was written while the database clock was ahead, and is ignored. `infinity` disables the job.
 */
export async function tryStartJob(db: Db, name: JobName, withinMs: number): Promise<boolean> {
  const { rowCount } = await sql`
    update maintenance_jobs set begun_at = clock_timestamp()
    where name = ${name} and isfinite(begun_at) and begun_at not between
      clock_timestamp() - ${withinMs} * interval '1 millisecond' and clock_timestamp() + interval '1 minute'`.execute(
    db,
  );
  return rowCount > 0;
}

/** Keeps other processes from starting the job. Two concurrent runs are harmless but waste work. */
export async function renewJob(db: Db, name: JobName): Promise<void> {
  await sql`update maintenance_jobs set begun_at = clock_timestamp() where name = ${name}`.execute(
    db,
  );
}

/** The agent at which the previous run of the job ran out of time; the lowest id if it did not. */
export async function readJobCursor(db: Db, name: JobName): Promise<string> {
  const { rows } = await sql<{ reached: string }>`
    select reached from maintenance_jobs where name = ${name}`.execute(db);
  if (!rows[0]) throw new Error(`The maintenance job "${name}" has no row.`);
  return rows[0].reached;
}

export async function writeJobCursor(db: Db, name: JobName, agentId: string): Promise<void> {
  await sql`update maintenance_jobs set reached = ${agentId} where name = ${name} and reached <> ${agentId}`.execute(
    db,
  );
}
