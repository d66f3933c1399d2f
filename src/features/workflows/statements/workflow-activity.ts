import type { WorkflowRunStatus } from '../../../core/workflow/definition.ts';
import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import type { Viewer } from '../../people/statements/visible-agents.ts';
import { versionVisibleTo } from './workflows.ts';

/** The recent activity of workflows, for lists. */

export interface WorkflowActivity {
  /** Newest first. */
  readonly lastRuns: readonly LastRun[];
  /** The next tick of a schedule; null if there is none. */
  readonly nextAt: Date | null;
}

interface LastRun {
  readonly id: string;
  readonly status: WorkflowRunStatus;
  readonly executedAt: Date;
}

/** The number of latest runs per workflow to search for visible ones. */
const scannedRunsMax = 1_000;

/** By workflow id, for visible workflows. Contains only runs of visible versions. */
export async function readActivity(
  db: Db,
  viewer: Viewer,
  workflowIds: readonly string[],
  runsMax: number,
): Promise<ReadonlyMap<string, WorkflowActivity>> {
  const { rows } = await sql<ActivityRow>`
    select w.id as workflow_id, s.next_at, r.id, r.status, r.executed_at
    from workflows w
      left join lateral (
        select min(next_at) as next_at from workflow_schedules where workflow_id = w.id) as s on w.enabled
      left join lateral (
        select r.id, r.status, r.executed_at
        from (
          select * from workflow_runs r where r.workflow_id = w.id
          order by r.id desc limit ${scannedRunsMax}) as r
        where exists (
          select from workflow_versions v where v.id = r.workflow_version_id and ${versionVisibleTo(viewer)})
        order by r.id desc limit ${runsMax}) as r on true
    where w.id = any (${workflowIds}::uuid[])
    order by r.id desc`.execute(db);
  const byWorkflow = Map.groupBy(rows, ({ workflowId }) => workflowId);
  return new Map([...byWorkflow].map(([id, of]) => [id, activityOf(of)]));
}

/** A workflow without runs has one row without a run. */
type ActivityRow = { readonly workflowId: string; readonly nextAt: Date | null } & (
  | LastRun
  | { readonly id: null }
);

function activityOf(rows: readonly ActivityRow[]): WorkflowActivity {
  const lastRuns = rows.filter((row): row is ActivityRow & LastRun => row.id !== null);
  return { lastRuns, nextAt: rows[0]?.nextAt ?? null };
}
