import type { CallFailureCode } from '../../../core/failure.ts';
import { statementTime } from '../../../db/clock.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { type Page, readPage } from '../../../db/page.ts';
import { rowTable } from '../../../db/row-set.ts';
import { sql } from '../../../db/sql.ts';
import type { MissedPolicy, ScheduleTimes } from '../rules/schedule.ts';

/** The schedules of workflows. */

export interface ScheduleRow {
  readonly id: string;
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: MissedPolicy;
  /** JSON text. */
  readonly input: string;
  /** JSON text; null if its workflow runs have none. */
  readonly labels: string | null;
  /** Decimal text; null if its workflow runs have no limit. */
  readonly maxCostUsd: string | null;
  readonly enabled: boolean;
  readonly revision: number;
  /** Null if the schedule is disabled or has no future tick. */
  readonly nextAt: Date | null;
  readonly lastAt: Date | null;
  /** JSON text of a `TickError`; null if the last tick started a workflow run or the schedule has changed since. */
  readonly lastError: string | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const columns = sql`id, workflow_id, workspace_id, cron, time_zone, missed, input, labels, max_cost_usd, enabled, revision,
  next_at, last_at, last_error, created_by, created_at, updated_at`;

export async function findSchedule(
  db: Db,
  workflowId: string,
  id: string,
): Promise<ScheduleRow | null> {
  const { rows } = await sql<ScheduleRow>`
    select ${columns} from workflow_schedules
    where id = ${id} and workflow_id = ${workflowId}`.execute(db);
  return rows[0] ?? null;
}

/** Newest first. */
export function listSchedules(
  db: Db,
  workflowId: string,
  page: Page,
): Promise<{ rows: ScheduleRow[]; total: number }> {
  const from = sql`workflow_schedules where workflow_id = ${workflowId}`;
  return readPage(db, { columns, from, order: sql`id desc` }, page);
}

/** The next schedules of a workspace by id, with their inputs as JSON text. */
export async function listScheduleInputs(
  db: Db,
  workspaceId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<Pick<ScheduleRow, 'id' | 'input' | 'labels'>[]> {
  const { rows } = await sql<Pick<ScheduleRow, 'id' | 'input' | 'labels'>>`
    select id, input, labels from workflow_schedules
    where workspace_id = ${workspaceId} and id > ${after} order by id limit ${limit}`.execute(db);
  return rows;
}

export async function countSchedules(trx: Trx, workflowId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from workflow_schedules where workflow_id = ${workflowId}`.execute(trx);
  return rows[0]?.n ?? 0;
}

/** Locks a schedule for a change. Firing skips locked schedules. */
export async function lockSchedule(
  trx: Trx,
  workflowId: string,
  id: string,
): Promise<ScheduleRow | null> {
  const { rows } = await sql<ScheduleRow>`
    select ${columns} from workflow_schedules
    where id = ${id} and workflow_id = ${workflowId} for update`.execute(trx);
  return rows[0] ?? null;
}

export async function lockSchedulesOf(trx: Trx, workflowId: string): Promise<void> {
  await sql`
    select id from workflow_schedules where workflow_id = ${workflowId}
    order by id for update`.execute(trx);
}

export interface NewSchedule
  extends Omit<
    ScheduleRow,
    'revision' | 'nextAt' | 'lastAt' | 'lastError' | 'createdAt' | 'updatedAt'
  > {
  readonly nextAtMs: number | null;
}

export async function insertSchedule(trx: Trx, schedule: NewSchedule): Promise<ScheduleRow> {
  const { id, workflowId, workspaceId, cron, timeZone, missed, input, labels, enabled } = schedule;
  const { maxCostUsd, nextAtMs, createdBy } = schedule;
  const { rows } = await sql<ScheduleRow>`
    insert into workflow_schedules
      (id, workflow_id, workspace_id, cron, time_zone, missed, input, labels, enabled, next_at, created_by,
        max_cost_usd)
    values (${id}, ${workflowId}, ${workspaceId}, ${cron}, ${timeZone}, ${missed}, ${input}, ${labels}, ${enabled},
      ${moment(nextAtMs)}, ${createdBy}, ${maxCostUsd})
    returning ${columns}`.execute(trx);
  return one(rows);
}

/** Needs the lock of the schedule. */
export async function updateSchedule(
  trx: Trx,
  schedule: Omit<NewSchedule, 'workflowId' | 'workspaceId' | 'createdBy'>,
): Promise<ScheduleRow> {
  const { id, cron, timeZone, missed, input, labels, maxCostUsd, enabled, nextAtMs } = schedule;
  const { rows } = await sql<ScheduleRow>`
    update workflow_schedules set cron = ${cron}, time_zone = ${timeZone}, missed = ${missed},
      input = ${input}, labels = ${labels}, max_cost_usd = ${maxCostUsd}, enabled = ${enabled}, next_at = ${moment(nextAtMs)},
      last_error = null, revision = revision + 1, updated_at = clock_timestamp()
    where id = ${id} returning ${columns}`.execute(trx);
  return one(rows);
}

/** Whether all workers keep limits of the cost of workflow runs. */
export async function isRunLimitKept(trx: Trx): Promise<boolean> {
  const { rows } = await sql`select from workers where not keeps_run_limits limit 1`.execute(trx);
  return rows.length === 0;
}

export async function deleteSchedule(trx: Trx, id: string): Promise<void> {
  await sql`delete from workflow_schedules where id = ${id}`.execute(trx);
}

/** A schedule that is due. */
export type DueScheduleRow = ScheduleRow & { readonly nextAt: Date };

/**
 * Locks due schedules until the transaction ends, the longest due first, and reads the time. Skips locked schedules and those
 * that have failed.
 */
export async function claimDueSchedules(
  trx: Trx,
  { limit, failed }: { readonly limit: number; readonly failed: readonly string[] },
): Promise<{ readonly schedules: DueScheduleRow[]; readonly nowMs: number }> {
  const { rows } = await sql<DueScheduleRow & { nowMs: number }>`
    select ${columns}, floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
    from workflow_schedules where next_at <= ${statementTime} and id <> all (${failed}::uuid[])
    order by next_at limit ${limit} for update skip locked`.execute(trx);
  return { schedules: rows, nowMs: Math.max(...rows.map(({ nowMs }) => nowMs)) };
}

export interface FarScheduleRow extends ScheduleTimes {
  readonly id: string;
  readonly revision: number;
  readonly nextAt: Date;
}

/** Schedules whose next tick is after the next maintenance, by id, and the time. */
export async function listFarSchedules(
  db: Db,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly schedules: FarScheduleRow[]; readonly nowMs: number }> {
  const { rows } = await sql<FarScheduleRow & { nowMs: number }>`
    select id, cron, time_zone, revision, next_at,
      floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
    from workflow_schedules where id > ${after} and next_at > ${statementTime} + interval '15 minutes'
    order by id limit ${limit}`.execute(db);
  return { schedules: rows, nowMs: Math.max(...rows.map(({ nowMs }) => nowMs)) };
}

/** Moves schedules to an earlier tick, unless they have changed since. */
export async function advanceSchedules(
  db: Db,
  moves: readonly (Pick<FarScheduleRow, 'id' | 'revision'> & { readonly nextMs: number })[],
): Promise<void> {
  if (moves.length === 0) return;
  await sql`
    update workflow_schedules s set next_at = m.next_at
    from ${rowTable(
      'm',
      {
        id: ['uuid', (one) => one.id],
        revision: ['int', (one) => one.revision],
        next_at: ['timestamptz', (one) => moment(one.nextMs)],
      },
      moves,
    )}
    where s.id = m.id and s.revision = m.revision and s.next_at > m.next_at`.execute(db);
}

/** A tick that started no workflow run, with the error that a caller would have received. */
export interface TickError {
  readonly at: string;
  readonly code: CallFailureCode;
  readonly message: string;
}

/** The next tick of a schedule, and the tick that fired or failed; neither if the tick was skipped. */
export interface ScheduleMove {
  readonly id: string;
  readonly nextMs: number | null;
  readonly firedMs: number | null;
  readonly error: TickError | null;
}

/** Moves locked schedules to their next ticks. Does not change the revision. */
export async function moveSchedules(trx: Trx, moves: readonly ScheduleMove[]): Promise<void> {
  if (moves.length === 0) return;
  await sql`
    update workflow_schedules s set next_at = m.next_at, last_at = coalesce(m.fired_at, s.last_at),
      last_error = case when m.fired_at is null then coalesce(m.error, s.last_error) end
    from ${rowTable(
      'm',
      {
        id: ['uuid', (one) => one.id],
        next_at: ['timestamptz', (one) => moment(one.nextMs)],
        fired_at: ['timestamptz', (one) => moment(one.firedMs)],
        error: ['json', (one) => one.error && JSON.stringify(one.error)],
      },
      moves,
    )}
    where s.id = m.id`.execute(trx);
}

function moment(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function one<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('The locked schedule does not exist.');
  return row;
}
