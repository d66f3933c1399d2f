import {
  type WorkflowRunStatus,
  type WorkflowTrigger,
  workflowRunStatuses,
  workflowTriggers,
} from '../../../core/workflow/definition.ts';
import type { Db } from '../../../db/database.ts';
import { inSnapshot } from '../../../db/in-snapshot.ts';
import type { Page } from '../../../db/page.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import {
  parseDefinition,
  type WithDefinition,
  type WithDefinitionText,
} from '../../../engine/advance/workflow-definitions.ts';
import type { Viewer } from '../../people/statements/visible-agents.ts';
import {
  countItems,
  type FailedItems,
  failedItemsJoin,
  type ItemCounts,
  listSteps,
  runColumns,
  runColumnsWithoutBodies,
  runSummaryColumns,
  type WorkflowRunRow,
  type WorkflowRunSummaryRow,
  type WorkflowStepRow,
} from './workflow-runs.ts';
import { versionVisibleTo } from './workflows.ts';

/** Reads workflow runs that the caller may see: all agents of their version must be visible. */

type VisibleWorkflowRunRow = WorkflowRunSummaryRow & WithDefinition;

export interface WorkflowRunDetailRow extends WorkflowRunRow, WithDefinition {
  /** Steps that have begun or were skipped; the first items of each list. */
  readonly steps: readonly WorkflowStepRow[];
  readonly items: readonly ItemCounts[];
}

/** Reads the run and its steps in one snapshot, so that they are consistent. */
export function findRunDetail(
  db: Db,
  viewer: Viewer,
  {
    itemsShown,
    omitsBodies,
    ...run
  }: WorkflowRunKey & { itemsShown: number; omitsBodies: boolean },
): Promise<WorkflowRunDetailRow | null> {
  return inSnapshot(db, async (trx) => {
    const { rows } = await sql<WithDefinitionText<WorkflowRunRow & WithDefinition>>`
      select ${omitsBodies ? runColumnsWithoutBodies : runColumns}, v.definition
      from ${visibleRun(viewer, run)}`.execute(trx);
    const [row] = rows;
    if (!row) return null;
    const steps = await listSteps(trx, run.id, itemsShown);
    return { ...parseDefinition(row), steps, items: await countItems(trx, run.id) };
  });
}

/** Without input and output. */
export async function findVisibleRun(
  db: Db,
  viewer: Viewer,
  run: WorkflowRunKey,
): Promise<VisibleWorkflowRunRow | null> {
  const { rows } = await sql<WithDefinitionText<VisibleWorkflowRunRow>>`
    select ${runSummaryColumns}, v.definition from ${visibleRun(viewer, run)}`.execute(db);
  return rows[0] ? parseDefinition(rows[0]) : null;
}

interface WorkflowRunKey {
  readonly workflowId: string;
  readonly id: string;
}

const joined = sql`workflow_runs r join workflow_versions v on v.id = r.workflow_version_id`;

const visibleRun = (viewer: Viewer, { workflowId, id }: WorkflowRunKey) => sql`${joined}
  where r.id = ${id} and r.workflow_id = ${workflowId} and ${versionVisibleTo(viewer)}`;

export interface WorkflowRunRequest extends Page {
  readonly workflowId: string;
  readonly status: WorkflowRunStatus | null;
  readonly trigger: WorkflowTrigger | null;
  /** Whether to list only runs with failed items. */
  readonly failedItems: boolean;
  /** Only runs after this one in the order of the list. */
  readonly after: string | null;
  readonly countedMax: number;
}

export interface WorkflowRunPage {
  readonly rows: (WorkflowRunSummaryRow & {
    readonly [Name in keyof FailedItems]: number | null;
  })[];
  /** Includes runs before `after`; a lower bound if `totalIsExact` is false. */
  readonly total: number;
  readonly totalIsExact: boolean;
}

/** Newest first. */
export function listWorkflowRuns(
  db: Db,
  viewer: Viewer,
  request: WorkflowRunRequest,
): Promise<WorkflowRunPage> {
  const { after, countedMax, limit, offset } = request;
  return inSnapshot(db, async (trx) => {
    // Visibility depends on the version alone, so it is checked once per version.
    const { rows: versions } = await sql<{ id: string; visible: boolean }>`
      select v.id, ${versionVisibleTo(viewer)} as visible from workflow_versions v
      where v.workflow_id = ${request.workflowId}`.execute(trx);
    const visible = versions.filter((one) => one.visible).map(({ id }) => id);
    const select =
      visible.length === versions.length || request.failedItems
        ? selectOfAll(visible)
        : selectOfVersions(visible);
    const last = offset + limit;
    // An index returns the runs in order. The planner would prefer to sort a million rows, and some versions would compile
    // the statement because they overestimate the cost.
    await sql`select set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`.execute(
      trx,
    );
    const { rows } = await sql<WorkflowRunPage['rows'][number]>`
      select ${runSummaryColumns}, failed.item_count, failed.items_succeeded, failed.items_failed from (
        select id from (${select(request, { after, most: last })}) as r
        order by id desc limit ${limit} offset ${offset}) as page
      join ${joined} on r.id = page.id ${failedItemsJoin} order by r.id desc`.execute(trx);
    const counted = await sql<{ total: number }>`
      select count(*) as total from (
        select from (${select(request, { after: null, most: countedMax + 1 })}) as r
        limit ${countedMax + 1}) as found`.execute(trx);
    const found = counted.rows[0]?.total ?? 0;
    const totalIsExact = found <= countedMax;
    return { rows, total: Math.min(found, countedMax), totalIsExact };
  });
}

interface Bounds {
  readonly after: string | null;
  /** The maximum number of runs. */
  readonly most: number;
}

/** Few runs have failed items, and a table has only these: it is scanned for those of some versions too. */
function selectOfAll(versionIds: readonly string[]) {
  return (request: WorkflowRunRequest, { after, most }: Bounds): Sql => {
    const { workflowId, status, trigger, failedItems } = request;
    const from = failedItems
      ? sql`runs_with_failed_items f join workflow_runs r on r.id = f.run_id
      where f.workflow_id = ${workflowId} and r.workflow_version_id = any(${versionIds}::uuid[])`
      : sql`workflow_runs r where r.workflow_id = ${workflowId}`;
    const id = sql.ref(failedItems ? 'f.run_id' : 'r.id');
    return sql`
      select ${id} as id from ${from}
        ${status === null ? sql`` : sql`and r.status = ${status}`}
        ${trigger === null ? sql`` : sql`and r.trigger = ${trigger}`}
        ${after === null ? sql`` : sql`and ${id} < ${after}`}
      order by ${id} desc limit ${most}`;
  };
}

/**
 * Selects per version, because other versions may have a million newer runs. The row comparisons and the order match an index.
 * With equality conditions and an order by id alone, PostgreSQL would scan all runs if few match.
 */
function selectOfVersions(versionIds: readonly string[]) {
  return ({ status, trigger }: WorkflowRunRequest, { after, most }: Bounds): Sql => {
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
