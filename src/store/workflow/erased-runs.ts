import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { OpenErasure } from '../history/erasures.ts';

/** Runs of workflows whose input names the end user of an erasure. */

export interface WorkflowRunScan {
  /** Whether they have ended is for the deletion to find out. */
  readonly found: readonly {
    readonly id: string;
    /** Of an object or array its JSON text, which may still differ from the value; null where it is the value. */
    readonly text: string | null;
  }[];
  /** What was looked at goes down to here; null where there was nothing left. */
  readonly downTo: string | null;
}

/** Of the inputs, as they are stored, that one look reads. */
const inputBytesMax = 8_000_000;

/** Looks at the next `limit` runs of the workspace, ended or not; at fewer where their inputs are long. */
export async function scanWorkflowRuns(
  db: Db,
  { workspaceId, variable, value, workflowRunsDownTo }: OpenErasure,
  limit: number,
): Promise<WorkflowRunScan> {
  const { rows } = await sql<{ id: string; found: boolean; text: string | null }>`
    select id, coalesce(named.nested or named.text = ${value}, false) as found,
      case when named.nested then named.text end as text
    from (
      select id, input, sum(bytes) over (order by id desc) - bytes as bytes_before from (
        select id, input, coalesce(pg_column_size(input), 0) as bytes from workflow_runs
        where workspace_id = ${workspaceId} and id < ${workflowRunsDownTo}
        order by id desc limit ${limit}) as next) as looked
    cross join lateral (
      select input ->> ${variable} as text, json_typeof(input -> ${variable}) in ('object', 'array') as nested) as named
    where bytes_before < ${inputBytesMax}
    order by id desc`.execute(db);
  return {
    found: rows.filter((row) => row.found).map(({ id, text }) => ({ id, text })),
    downTo: rows.at(-1)?.id ?? null,
  };
}

/** Notes how far it has come, and the runs that were found: it waits until they are gone. */
export async function recordWorkflowRuns(
  db: Db,
  erasureId: string,
  { ids, downTo }: { readonly ids: readonly string[]; readonly downTo: string },
): Promise<void> {
  await sql`
    with found as materialized (
      select id from workflow_runs where id = any(${ids}::uuid[]) order by id for key share),
    noted as (
      insert into erasure_workflow_runs (erasure_id, run_id)
      select ${erasureId}, id from found on conflict do nothing)
    update erasures set workflow_runs_down_to = least(workflow_runs_down_to, ${downTo}::uuid)
    where id = ${erasureId}`.execute(db);
}
