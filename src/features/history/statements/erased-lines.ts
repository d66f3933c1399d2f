import { type Db, inTransaction } from '../../../db/database.ts';
import { aboveFloor, idBounds } from '../../../db/id-bounds.ts';
import { sql } from '../../../db/sql.ts';
import type { OpenErasure } from './erasures.ts';

/** Ids of lines, which callers choose and which may name the person that an erasure is about. */

interface Line {
  readonly batchId: string;
  readonly line: number;
}

/** Removes the ids of the lines that became these executions. They are looked for before their batches are locked. */
export async function forgetLineIdsOf(db: Db, executionIds: readonly string[]): Promise<void> {
  const [lowest, highest] = idBounds(executionIds);
  const { rows } = await sql<Line>`
    with of_batches as materialized (
      select e.id, e.batch_id from all_executions e
      where e.id = any(${executionIds}::uuid[]) and e.id between ${lowest}::uuid and ${highest}::uuid
        and e.batch_id is not null)
    select l.batch_id, l.line
    from batch_lines l join of_batches e on e.batch_id = l.batch_id and e.id = l.execution_id
    where l.batch_id = any(array(select batch_id from of_batches)) and l.id is not null`.execute(
    db,
  );
  await forgetLineIds(db, rows);
}

export interface LineScan {
  /** Ended lines without a record, whose id contains the value. */
  readonly found: readonly (Line & { readonly id: string })[];
  /** The lowest scanned batch; null if none was left. */
  readonly downTo: string | null;
}

const batchesAtOnce = 5;

/** Scans the next batches: nothing but its id leads from a line without a record to a person. */
export async function scanLines(
  db: Db,
  { workspaceId, agentId, value, linesDownTo }: OpenErasure,
): Promise<LineScan> {
  const { rows: batches } = await sql<{ id: string }>`
    select id from batches
    where workspace_id = ${workspaceId} and id < ${linesDownTo}
      and (${agentId}::uuid is null or agent_id = ${agentId})
    order by id desc limit ${batchesAtOnce}`.execute(db);
  const { rows: found } = await sql<Line & { id: string }>`
    select l.batch_id, l.line, l.id from batch_lines l
    where l.batch_id = any(${batches.map(({ id }) => id)}::uuid[]) and ${value} <> '' and strpos(l.id, ${value}) > 0
      and l.status not in ('waiting', 'processing')
      and not exists (select from executions e where e.id = l.execution_id and ${aboveFloor})`.execute(
    db,
  );
  return { found, downTo: batches.at(-1)?.id ?? null };
}

/** Stores the position of the scan. */
export async function recordScannedLines(db: Db, erasureId: string, downTo: string): Promise<void> {
  await sql`
    update erasure_requests set lines_down_to = least(lines_down_to, ${downTo}::uuid)
    where id = ${erasureId}`.execute(db);
}

/** Locks the batches first, like all that changes their lines. */
export async function forgetLineIds(db: Db, lines: readonly Line[]): Promise<void> {
  if (lines.length === 0) return;
  const batchIds = lines.map(({ batchId }) => batchId);
  await inTransaction(db, async (trx) => {
    await sql`
      select from batches where id = any(${batchIds}::uuid[]) order by id for update`.execute(trx);
    await sql`
      update batch_lines l set id = null
      from unnest(${batchIds}::uuid[], ${lines.map(({ line }) => line)}::int[]) as f (batch_id, line)
      where l.batch_id = f.batch_id and l.line = f.line`.execute(trx);
  });
}
