import { sql } from 'kysely';
import type { WorkflowDefinition, WorkflowRunStatus, WorkflowTrigger } from '../core/workflow.ts';
import type { Viewer } from './agents.ts';
import type { Db } from './db.ts';
import { inSnapshot } from './history.ts';
import type { Page } from './page.ts';
import {
  countItems,
  type ItemCounts,
  type ListedRunRow,
  listedRun,
  listSteps,
  summarizedRun,
  type WorkflowRunRow,
  type WorkflowStepRow,
  wholeRun,
} from './workflow-runs.ts';
import { versionSeenBy } from './workflows.ts';

/** Reading the runs of workflows, as far as whoever asks sees every agent of the version they carry out. */

interface Defined {
  readonly definition: WorkflowDefinition;
}

type SeenRunRow = ListedRunRow & Defined;

export interface WorkflowRunDetailRow extends WorkflowRunRow, Defined {
  /** Those that have begun, or were passed over; of each list the first items. */
  readonly steps: readonly WorkflowStepRow[];
  readonly items: readonly ItemCounts[];
}

/** The run and its steps from one snapshot, so that they fit together. */
export function findRunDetail(
  db: Db,
  viewer: Viewer,
  { itemsShown, omitsBodies, ...at }: RunAt & { itemsShown: number; omitsBodies: boolean },
): Promise<WorkflowRunDetailRow | null> {
  return inSnapshot(db, async (trx) => {
    const { rows } = await sql<WorkflowRunRow & Defined>`
      select ${omitsBodies ? summarizedRun : wholeRun}, v.definition
      from ${seenAt(viewer, at)}`.execute(trx);
    const [run] = rows;
    if (!run) return null;
    const steps = await listSteps(trx, at.id, itemsShown);
    return { ...run, steps, items: await countItems(trx, at.id) };
  });
}

/** Without its input and output. */
export async function findSeenRun(db: Db, viewer: Viewer, at: RunAt): Promise<SeenRunRow | null> {
  const { rows } = await sql<SeenRunRow>`
    select ${listedRun}, v.definition from ${seenAt(viewer, at)}`.execute(db);
  return rows[0] ?? null;
}

interface RunAt {
  readonly workflowId: string;
  readonly id: string;
}

const joined = sql.raw('workflow_runs r join workflow_versions v on v.id = r.workflow_version_id');

const seenAt = (viewer: Viewer, { workflowId, id }: RunAt) => sql`${joined}
  where r.id = ${id} and r.workflow_id = ${workflowId} and ${versionSeenBy(viewer)}`;

export interface WorkflowRunQuestion extends Page {
  readonly workflowId: string;
  readonly status: WorkflowRunStatus | null;
  readonly trigger: WorkflowTrigger | null;
  /** Only what comes after this run in the order of the list. */
  readonly after: string | null;
  readonly countedMax: number;
}

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
  { workflowId, status, trigger, after, countedMax, limit, offset }: WorkflowRunQuestion,
): Promise<WorkflowRunPage> {
  // Whoever sees a version sees all runs of it: that is asked once, and not for each of them.
  const from = sql`${joined} where r.workflow_id = ${workflowId}
    and r.workflow_version_id in (
      select v.id from workflow_versions v where v.workflow_id = ${workflowId} and ${versionSeenBy(viewer)})
    ${status === null ? sql`` : sql`and r.status = ${status}`}
    ${trigger === null ? sql`` : sql`and r.trigger = ${trigger}`}`;
  return inSnapshot(db, async (trx) => {
    const { rows } = await sql<ListedRunRow>`
      select ${listedRun} from ${from} ${after === null ? sql`` : sql`and r.id < ${after}`}
      order by r.id desc limit ${limit} offset ${offset}`.execute(trx);
    const counted = await sql<{ total: number }>`
      select count(*) as total from (select from ${from} limit ${countedMax + 1}) as found`.execute(
      trx,
    );
    const found = counted.rows[0]?.total ?? 0;
    const totalIsExact = found <= countedMax;
    return { rows, total: Math.min(found, countedMax), totalIsExact };
  });
}
