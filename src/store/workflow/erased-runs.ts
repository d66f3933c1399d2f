import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { OpenErasure } from '../history/erasures.ts';

/** Finds the workflow runs of an erasure: those with the end user in their input. */

export interface WorkflowRunScan {
  /** Workflow runs of this end user, ended or not. */
  readonly found: readonly {
    readonly id: string;
    /** The JSON text of an object or array, which the caller must still compare; null for an exact match. */
    readonly text: string | null;
  }[];
  /** The lowest scanned id; null if nothing was left. */
  readonly downTo: string | null;
}

/** Limits the stored inputs that one scan reads. */
const inputBytesMax = 8_000_000;

/** Scans the next `limit` workflow runs of the workspace, ended or not; fewer if their inputs are long. */
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
        order by id desc limit ${limit}) as next) as scanned
    cross join lateral (
      select input ->> ${variable} as text, json_typeof(input -> ${variable}) in ('object', 'array') as nested) as named
    where bytes_before < ${inputBytesMax}
    order by id desc`.execute(db);
  return {
    found: rows.filter((row) => row.found).map(({ id, text }) => ({ id, text })),
    downTo: rows.at(-1)?.id ?? null,
  };
}

/** Stores the position and the found workflow runs, which the erasure has to delete. */
export async function recordWorkflowRuns(
  db: Db,
  erasureId: string,
  { ids, downTo }: { readonly ids: readonly string[]; readonly downTo: string },
): Promise<void> {
  await sql`
    with found as materialized (
      select id from workflow_runs where id = any(${ids}::uuid[]) order by id for key share),
    recorded as (
      insert into erasure_workflow_runs (erasure_id, run_id)
      select ${erasureId}, id from found on conflict do nothing)
    update erasures set workflow_runs_down_to = least(workflow_runs_down_to, ${downTo}::uuid)
    where id = ${erasureId}`.execute(db);
}
