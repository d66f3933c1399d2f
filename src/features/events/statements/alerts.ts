import { statementTime } from '../../../db/clock.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { type AlertSettings, type AlertState, settleSeconds } from '../rules/alert.ts';

/**
 * Alerts of a workspace. They belong to the workspace, not to who created them.
 *
 * Invariant: an evaluation of an alert holds its lock until the new state and its event are committed, and an evaluated minute
 * is not evaluated again. So one change of state has one event, however many processes evaluate.
 */

export interface AlertRow extends AlertSettings {
  readonly id: string;
  readonly workspaceId: string;
  readonly state: AlertState;
  readonly stateSince: Date;
  /** The last value; null without one. */
  readonly value: number | null;
  /** The end of the last evaluated window; null before the first one. */
  readonly evaluatedTo: Date | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const columns = sql`a.id, a.workspace_id, a.name, a.metric, a.agent_ids, a.tag, a.budget_id, a.threshold, a.clear_threshold, a.window_minutes,
  a.min_count, a.no_data, a.state, a.state_since, a.value, a.evaluated_to, a.created_by, a.created_at, a.updated_at`;

/** Oldest first. */
export async function listAlerts(db: Db, workspaceId: string): Promise<AlertRow[]> {
  const { rows } = await sql<AlertRow>`
    select ${columns} from alerts a where a.workspace_id = ${workspaceId} order by a.id`.execute(
    db,
  );
  return rows;
}

export async function findAlert(
  db: Db,
  workspaceId: string,
  id: string,
  lock: Sql = sql``,
): Promise<AlertRow | null> {
  const { rows } = await sql<AlertRow>`
    select ${columns} from alerts a where a.id = ${id} and a.workspace_id = ${workspaceId} ${lock}`.execute(
    db,
  );
  return rows[0] ?? null;
}

export function lockAlert(trx: Trx, workspaceId: string, id: string): Promise<AlertRow | null> {
  return findAlert(trx, workspaceId, id, sql`for update`);
}

/** Locks the workspace's row, so that two concurrent requests cannot both create the last alert. */
export async function countAlerts(trx: Trx, workspaceId: string): Promise<number> {
  await sql`select from workspaces where id = ${workspaceId} for no key update`.execute(trx);
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from alerts where workspace_id = ${workspaceId}`.execute(trx);
  return rows[0]?.n ?? 0;
}

export async function insertAlert(
  trx: Trx,
  alert: AlertSettings & {
    readonly id: string;
    readonly workspaceId: string;
    readonly createdBy: string | null;
  },
): Promise<void> {
  const { id, workspaceId, name, metric, agentIds, tag, budgetId, threshold } = alert;
  const { clearThreshold, windowMinutes, minCount, noData, createdBy } = alert;
  await sql`
    insert into alerts (id, workspace_id, name, metric, agent_ids, tag, budget_id, threshold, clear_threshold, window_minutes,
      min_count, no_data, created_by)
    values (${id}, ${workspaceId}, ${name}, ${metric}, ${agentIds}::uuid[], ${tag}, ${budgetId}, ${threshold},
      ${clearThreshold}, ${windowMinutes}, ${minCount}, ${noData}, ${createdBy})`.execute(trx);
}

/** The next evaluation is due at once. */
export async function writeAlert(trx: Trx, id: string, settings: AlertSettings): Promise<void> {
  const { name, metric, agentIds, tag, budgetId, threshold, clearThreshold } = settings;
  const { windowMinutes, minCount, noData } = settings;
  await sql`
    update alerts set name = ${name}, metric = ${metric}, agent_ids = ${agentIds}::uuid[], tag = ${tag},
      budget_id = ${budgetId}, threshold = ${threshold}, clear_threshold = ${clearThreshold}, window_minutes = ${windowMinutes},
      min_count = ${minCount}, no_data = ${noData}, evaluated_to = null, updated_at = clock_timestamp()
    where id = ${id}`.execute(trx);
}

/** False if it does not exist. */
export async function deleteAlert(trx: Trx, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql`
    delete from alerts where id = ${id} and workspace_id = ${workspaceId}`.execute(trx);
  return rowCount > 0;
}

/** SQL: the end of the last minute that is evaluated. */
const evaluatedMinute = sql`date_trunc('minute', ${statementTime} - make_interval(secs => ${settleSeconds}))`;

/** The end of the last minute that is evaluated, and the time now, in milliseconds. */
export async function readEvaluatedMinute(db: Db): Promise<number> {
  const { rows } = await sql<{ toMs: number }>`
    select (extract(epoch from ${evaluatedMinute}) * 1000)::float8 as to_ms`.execute(db);
  return rows[0]?.toMs ?? Number.NaN;
}

export interface DueAlert extends AlertRow {
  /** The end of the window to evaluate. */
  readonly toMs: number;
}

/** Locks the next alert whose last minute has not been evaluated, unless another process holds it. */
export async function lockDueAlert(trx: Trx, except: readonly string[]): Promise<DueAlert | null> {
  const { rows } = await sql<DueAlert>`
    select ${columns}, (extract(epoch from ${evaluatedMinute}) * 1000)::float8 as to_ms from alerts a
    where (a.evaluated_to is null or a.evaluated_to < ${evaluatedMinute}) and a.id <> all (${except}::uuid[])
    order by a.evaluated_to nulls first limit 1 for update skip locked`.execute(trx);
  return rows[0] ?? null;
}

/** Returns the database time. */
export async function writeEvaluation(
  trx: Trx,
  id: string,
  evaluation: {
    readonly state: AlertState;
    readonly value: number | null;
    readonly toMs: number;
  },
): Promise<number> {
  const { state, value, toMs } = evaluation;
  const { rows } = await sql<{ nowMs: number }>`
    update alerts set value = ${value}, evaluated_to = to_timestamp(${toMs} / 1000.0), state = ${state},
      state_since = case when state = ${state} then state_since else clock_timestamp() end
    where id = ${id}
    returning (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(trx);
  return rows[0]?.nowMs ?? Number.NaN;
}
