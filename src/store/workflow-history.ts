import { sql } from 'kysely';
import type { WorkflowDefinition, WorkflowRunStatus, WorkflowTrigger } from '../core/workflow.ts';
import type { Viewer } from './agents.ts';
import type { Db } from './db.ts';
import { inSnapshot } from './history.ts';
import type { Page } from './page.ts';
import {
  countItems,
  findWorkflowRun,
  type ItemCounts,
  listSteps,
  type WorkflowRunRow,
  type WorkflowStepRow,
} from './workflow-runs.ts';
import { versionSeenBy } from './workflows.ts';

/** Reading the runs of workflows, as far as whoever asks sees every agent of the version they carry out. */

export interface SeenRunRow extends WorkflowRunRow {
  readonly definition: WorkflowDefinition;
}

export interface WorkflowRunDetailRow extends SeenRunRow {
  /** Those that have begun, or were passed over; of each list the first items. */
  readonly steps: readonly WorkflowStepRow[];
  readonly items: readonly ItemCounts[];
}

/** The run and its steps from one snapshot, so that they fit together. */
export function findRunDetail(
  db: Db,
  viewer: Viewer,
  { workflowId, id, itemsShown }: { workflowId: string; id: string; itemsShown: number },
): Promise<WorkflowRunDetailRow | null> {
  return inSnapshot(db, async (trx) => {
    const run = await findSeenRun(trx, viewer, { workflowId, id });
    if (!run) return null;
    const steps = await listSteps(trx, id, itemsShown);
    return { ...run, steps, items: await countItems(trx, id) };
  });
}

export async function findSeenRun(
  db: Db,
  viewer: Viewer,
  { workflowId, id }: { readonly workflowId: string; readonly id: string },
): Promise<SeenRunRow | null> {
  const { rows } = await sql<{ definition: WorkflowDefinition }>`
    select v.definition from ${joined} where r.id = ${id} and ${versionSeenBy(viewer)}`.execute(db);
  const [seen] = rows;
  const run = seen && (await findWorkflowRun(db, workflowId, id));
  return run ? { ...run, ...seen } : null;
}

/** A run as lists hold it. */
export type ListedRunRow = Omit<WorkflowRunRow, 'input' | 'output'>;

export interface WorkflowRunQuestion extends Page {
  readonly workflowId: string;
  readonly status: WorkflowRunStatus | null;
  readonly trigger: WorkflowTrigger | null;
  /** Only what comes after this run in the order of the list. */
  readonly after: string | null;
}

const listed =
  sql.raw(`r.id, r.workflow_id, r.workflow_version_id, v.label as workflow_version_label, r.status,
  r.trigger, r.api_key_id, r.executed_by, r.executed_at, r.completed_at, r.deadline_at, r.error_code,
  r.error, r.failed_step`);
const joined = sql.raw('workflow_runs r join workflow_versions v on v.id = r.workflow_version_id');

/** So many runs are counted, and no more: a page must not take longer the more there are. */
export const runsCountedMax = 10_000;

export interface WorkflowRunPage {
  readonly rows: ListedRunRow[];
  /** Also what lies before `after`; at least so many where there are more than are counted. */
  readonly total: number;
  readonly totalIsExact: boolean;
}

/** Newest first. */
export function listWorkflowRuns(
  db: Db,
  viewer: Viewer,
  { workflowId, status, trigger, after, limit, offset }: WorkflowRunQuestion,
): Promise<WorkflowRunPage> {
  // Whoever sees a version sees all runs of it: that is asked once, and not for each of them.
  const from = sql`${joined} where r.workflow_id = ${workflowId}
    and r.workflow_version_id in (
      select v.id from workflow_versions v where v.workflow_id = ${workflowId} and ${versionSeenBy(viewer)})
    ${status === null ? sql`` : sql`and r.status = ${status}`}
    ${trigger === null ? sql`` : sql`and r.trigger = ${trigger}`}`;
  return inSnapshot(db, async (trx) => {
    const { rows } = await sql<ListedRunRow>`
      select ${listed} from ${from} ${after === null ? sql`` : sql`and r.id < ${after}`}
      order by r.id desc limit ${limit} offset ${offset}`.execute(trx);
    const counted = await sql<{ total: number }>`
      select count(*) as total from (select from ${from} limit ${runsCountedMax + 1}) as found`.execute(
      trx,
    );
    const found = counted.rows[0]?.total ?? 0;
    const totalIsExact = found <= runsCountedMax;
    return { rows, total: Math.min(found, runsCountedMax), totalIsExact };
  });
}
