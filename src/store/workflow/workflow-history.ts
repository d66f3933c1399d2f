import { type RawBuilder, sql } from 'kysely';
import {
  type WorkflowRunStatus,
  type WorkflowTrigger,
  workflowRunStatuses,
  workflowTriggers,
} from '../../core/workflow/definition.ts';
import type { Viewer } from '../agent/agents.ts';
import type { Db } from '../connection/database.ts';
import { inSnapshot } from '../history/records.ts';
import type { Page } from '../page.ts';
import { type Defined, type Stored, parseDefinition } from './workflow-definitions.ts';
import {
  countItems,
  type ItemCounts,
  listedRun,
  listSteps,
  summarizedRun,
  type WorkflowRunRow,
  type WorkflowRunSummaryRow,
  type WorkflowStepRow,
  wholeRun,
} from './workflow-runs.ts';
import { runVisibleTo } from './workflows.ts';

/** Reading the runs of workflows, as far as whoever asks sees every agent of the version they carry out. */

type VisibleWorkflowRunRow = WorkflowRunSummaryRow & Defined;

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
    const { rows } = await sql<Stored<WorkflowRunRow & Defined>>`
      select ${omitsBodies ? summarizedRun : wholeRun}, v.definition
      from ${seenAt(viewer, at)}`.execute(trx);
    const [run] = rows;
    if (!run) return null;
    const steps = await listSteps(trx, at.id, itemsShown);
    return { ...parseDefinition(run), steps, items: await countItems(trx, at.id) };
  });
}

/** Without its input and output. */
export async function findVisibleRun(
  db: Db,
  viewer: Viewer,
  at: RunAt,
): Promise<VisibleWorkflowRunRow | null> {
  const { rows } = await sql<Stored<VisibleWorkflowRunRow>>`
    select ${listedRun}, v.definition from ${seenAt(viewer, at)}`.execute(db);
  return rows[0] ? parseDefinition(rows[0]) : null;
}

interface RunAt {
  readonly workflowId: string;
  readonly id: string;
}

const joined = sql.raw('workflow_runs r join workflow_versions v on v.id = r.workflow_version_id');

const seenAt = (viewer: Viewer, { workflowId, id }: RunAt) => sql`${joined}
  where r.id = ${id} and r.workflow_id = ${workflowId} and ${runVisibleTo(viewer)}`;

export interface WorkflowRunRequest extends Page {
  readonly workflowId: string;
  readonly status: WorkflowRunStatus | null;
  readonly trigger: WorkflowTrigger | null;
  /** Only what comes after this run in the order of the list. */
  readonly after: string | null;
  readonly countedMax: number;
}

export interface WorkflowRunPage {
  readonly rows: WorkflowRunSummaryRow[];
  /** Also what lies before `after`; at least so many where there are more than are counted. */
  readonly total: number;
  readonly totalIsExact: boolean;
}

/** Newest first. */
export function listWorkflowRuns(
  db: Db,
  viewer: Viewer,
  question: WorkflowRunRequest,
): Promise<WorkflowRunPage> {
  const { after, countedMax, limit, offset } = question;
  return inSnapshot(db, async (trx) => {
    // Whoever sees a version sees all runs of it: that is asked once, and not for each of them.
    const { rows: versions } = await sql<{ id: string; seen: boolean }>`
      select v.id, ${runVisibleTo(viewer)} as seen from workflow_versions v
      where v.workflow_id = ${question.workflowId}`.execute(trx);
    const seen = versions.filter((one) => one.seen).map(({ id }) => id);
    const some = seen.length < versions.length ? ofVersions(seen) : ofAll;
    const last = offset + limit;
    // An index has them in order. By what PostgreSQL believes to know of it, to sort a million would be quicker; and some
    // versions of it take a sort that is needed all the same for so dear that they would compile the statement.
    await sql`select set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`.execute(
      trx,
    );
    const { rows } = await sql<WorkflowRunSummaryRow>`
      select ${listedRun} from (
        select id from (${some(question, { after, most: last })}) as r
        order by id desc limit ${limit} offset ${offset}) as page
      join ${joined} on r.id = page.id order by r.id desc`.execute(trx);
    const counted = await sql<{ total: number }>`
      select count(*) as total from (
        select from (${some(question, { after: null, most: countedMax + 1 })}) as r
        limit ${countedMax + 1}) as found`.execute(trx);
    const found = counted.rows[0]?.total ?? 0;
    const totalIsExact = found <= countedMax;
    return { rows, total: Math.min(found, countedMax), totalIsExact };
  });
}

interface Part {
  readonly after: string | null;
  /** More are not looked for. */
  readonly most: number;
}

function ofAll(question: WorkflowRunRequest, { after, most }: Part): RawBuilder<unknown> {
  const { workflowId, status, trigger } = question;
  return sql`
    select r.id from workflow_runs r
    where r.workflow_id = ${workflowId}
      ${status === null ? sql`` : sql`and r.status = ${status}`}
      ${trigger === null ? sql`` : sql`and r.trigger = ${trigger}`}
      ${after === null ? sql`` : sql`and r.id < ${after}`}
    order by r.id desc limit ${most}`;
}

/**
 * Version by version: those of others may be a million, and all of them newer. Asked for by ranges and in the order of an
 * index, they are found by that; by equality and id alone, PostgreSQL would go through all where few are to be found.
 */
function ofVersions(versionIds: readonly string[]) {
  return ({ status, trigger }: WorkflowRunRequest, { after, most }: Part): RawBuilder<unknown> => {
    const triggers = trigger === null ? workflowTriggers : [trigger];
    const statuses = status === null ? workflowRunStatuses : [status];
    return sql`
      select r.id from unnest(${versionIds}::uuid[]) as v (id)
        cross join unnest(${triggers}::text[]) as t (trigger)
        cross join unnest(${statuses}::text[]) as s (status)
        cross join lateral (
          select r.id from workflow_runs r
          where (r.workflow_version_id, r.trigger, r.status, r.id) >= (v.id, t.trigger, s.status, ${firstId}::uuid)
            and (r.workflow_version_id, r.trigger, r.status, r.id) < (v.id, t.trigger, s.status, ${after ?? lastId}::uuid)
          order by r.workflow_version_id desc, r.trigger desc, r.status desc, r.id desc limit ${most}) as r`;
  };
}

const firstId = '00000000-0000-0000-0000-000000000000';
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
