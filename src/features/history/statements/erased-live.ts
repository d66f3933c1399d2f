import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import {
  keptLabels,
  keptTags,
  labelsHaveLabel,
  recordHasLabel,
} from '../../../engine/complete/erased-labels.ts';
import { recordRunsOfRecords } from './erased-runs.ts';
import type { NewErasure } from './erasures.ts';

/**
 * What an erasure reaches while it is live. It ends later, and its record is deleted then. Until that it loses its user,
 * session and metadata, and an erased tag: its record, its part of the statistics, and its event name nobody.
 */

/** Hides those of these executions that are live, and remembers them. Those of workflow runs are deleted with their run. */
export async function hideLiveExecutions(
  db: Db,
  erasure: NewErasure,
  ids: readonly string[],
): Promise<void> {
  await recordRunsOfRecords(db, erasure, ids);
  await sql`
    with live as materialized (
      select id from execution_queue where id = any(${ids}::uuid[]) order by id for update),
    remembered as (
      insert into erasure_executions (erasure_id, execution_id)
      select ${erasure.id}::uuid, id from execution_queue
      where id = any(array(select id from live)) and workflow_run_id is null
      on conflict do nothing)
    update execution_queue
    set erased = true, end_user = null, session = null, metadata = null, tags = ${keptTags(erasure)}
    where id = any(array(select id from live))`.execute(db);
}

/** At the request: everything live with the erased label. The variables of live executions are only read by the scan. */
export async function hideLiveWithLabel(trx: Trx, erasure: NewErasure): Promise<void> {
  const { id, workspaceId, agentId, variable } = erasure;
  if (variable !== null) return;
  if (agentId === null) {
    await sql`
      with live as materialized (
        select id from workflow_runs
        where workspace_id = ${workspaceId} and status = 'processing'
          and ${labelsHaveLabel(sql`labels`, erasure)}
        order by id for update),
      remembered as (
        insert into erasure_workflow_runs (erasure_id, run_id)
        select ${id}::uuid, id from live on conflict do nothing)
      update workflow_runs set labels = ${keptLabels(erasure)}
      where id = any(array(select id from live))`.execute(trx);
  }
  const { rows } = await sql<{ id: string }>`
    select e.id from execution_queue e
    where e.workspace_id = ${workspaceId} and ${recordHasLabel(erasure)}
      and (${agentId}::uuid is null or e.agent_id = ${agentId})`.execute(trx);
  if (rows.length === 0) return;
  await hideLiveExecutions(
    trx,
    erasure,
    rows.map((row) => row.id),
  );
}
