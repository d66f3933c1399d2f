import type { Stage } from '../../core/agent/agent.ts';
import type { Counts } from '../../core/agent/limits.ts';
import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import { farthestDueTime, statementTime } from '../../db/clock.ts';
import type { Db } from '../../db/database.ts';
import type { Send } from '../../db/pipeline.ts';
import { type Columns, rowSet, rowTable } from '../../db/row-set.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { countsOf } from '../fields/limit-rows.ts';
import type { Stopping } from './workflow-progress.ts';

/** Due steps: ready steps to call, and steps whose execution must be stopped. */

/** A ready step with the data to call its agent. */
export interface DueStep extends WorkflowStepOf {
  readonly fallback: boolean;
  readonly variables: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly workflowId: string;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
  /** JSON text of the labels of its run; null if it has none. */
  readonly labels: string | null;
  /** Of its run, as decimal text; null for no limit. */
  readonly maxCostUsd: string | null;
}

/** An agent with due steps, and its counts as admission last wrote them. */
export interface DueAgentRow {
  readonly agentId: string;
  /** Null, like the following fields, if the agent does not exist. */
  readonly workspaceId: string | null;
  readonly stage: Stage | null;
  readonly archived: boolean | null;
  readonly apiEnabled: boolean | null;
  readonly requestsPerMinute: number | null;
  readonly requestsPerHour: number | null;
  readonly requestsPerDay: number | null;
  readonly counts: Counts | null;
  readonly nowMs: number;
}

/** SQL: the agents with ready steps, and null at the end. */
const agentsWithReadySteps = sql`ready_agents as (
  (select agent_id from workflow_steps where status = 'ready' order by agent_id limit 1)
  union all
  select (select s.agent_id from workflow_steps s
    where s.status = 'ready' and s.agent_id > w.agent_id order by s.agent_id limit 1)
  from ready_agents w where w.agent_id is not null)`;

/**
 * Finds agents with due steps, by one index lookup per agent. Above the limit, workspaces get equal shares, and the agents are
 * chosen at random: with a fixed order, agents with exhausted rate limits could take all slots forever.
 */
export async function findDueAgents(db: Db, limit: number): Promise<DueAgentRow[]> {
  const { rows } = await sql<DueAgentRow>`
    with recursive ${agentsWithReadySteps}
    select w.agent_id, a.workspace_id, a.stage, a.archived_at is not null as archived, a.api_enabled,
      a.requests_per_minute, a.requests_per_hour, a.requests_per_day, ${countsOf(sql`w.agent_id`)}
    from ready_agents w cross join lateral (
      select from workflow_steps s
      where s.status = 'ready' and s.agent_id = w.agent_id and s.ready_at <= ${statementTime}
      order by s.ready_at limit 1) as due
    left join agents a on a.id = w.agent_id and a.deleted_at is null
    order by row_number() over (partition by a.workspace_id order by random()), random() limit ${limit}`.execute(
    db,
  );
  return rows;
}

/**
 * Claims due steps, up to `stepsMax` per agent, by postponing their due time. Skips locked steps, which another process is
 * claiming. Claims at least one, however long its variables are.
 */
export async function claimDueSteps(
  db: Db,
  agents: readonly { readonly agentId: string; readonly stepsMax: number }[],
  { stepsMax, bytesMax }: { readonly stepsMax: number; readonly bytesMax: number },
): Promise<DueStep[]> {
  const { rows } = await sql<DueStep>`
    with due as materialized (
      select s.*, ordinal from unnest(${agents.map((one) => one.agentId)}::uuid[],
          ${agents.map((one) => one.stepsMax)}::int[]) with ordinality as a (agent_id, steps_max, ordinal)
        cross join lateral (
          select run_id, step, item, ready_at, octet_length(variables) as bytes from workflow_steps
          where agent_id = a.agent_id and status = 'ready' and ready_at <= ${statementTime}
          order by ready_at limit a.steps_max for update skip locked) as s
      limit ${stepsMax}),
    sized as (
      select *, sum(bytes) over (order by ordinal, ready_at, run_id, item, step) - bytes as bytes_before from due)
    update workflow_steps s set ready_at = clock_timestamp() + interval '5 seconds'
    from sized f join workflow_runs r on r.id = f.run_id
    where s.run_id = f.run_id and s.step = f.step and s.item = f.item and f.bytes_before <= ${bytesMax}
    returning s.run_id, s.step, s.item, s.fallback, s.variables, s.agent_id, r.workspace_id, r.workflow_id,
      r.api_key_id, r.executed_by, r.labels, r.max_cost_usd`.execute(db);
  return rows;
}

/** Claims due steps whose execution must be stopped. */
export async function claimDueStops(db: Db, limit: number): Promise<Stopping[]> {
  const { rows } = await sql<Stopping>`
    with due as materialized (
      select run_id, step, item from workflow_steps
      where ready_at <= ${statementTime} and status = 'canceling'
      order by ready_at limit ${limit} for update skip locked)
    update workflow_steps s set ready_at = clock_timestamp() + interval '5 seconds'
    from due where s.run_id = due.run_id and s.step = due.step and s.item = due.item
    returning s.run_id, s.step, s.item, s.execution_id`.execute(db);
  return rows;
}

const resetFarDueTimes = sql`
  update workflow_steps s set ready_at = clock_timestamp()
  from postponed where s.run_id = postponed.run_id and s.step = postponed.step and s.item = postponed.item`;

/** Makes up to `limit` ready steps due that were delayed while the database clock was far ahead. Returns how many. */
export async function wakeSteps(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    with recursive ${agentsWithReadySteps},
    postponed as materialized (
      select postponed.* from ready_agents w cross join lateral (
        select run_id, step, item from workflow_steps
        where agent_id = w.agent_id and status = 'ready' and ready_at > ${farthestDueTime}
        order by ready_at limit ${limit} for update skip locked) as postponed
      limit ${limit})
    ${resetFarDueTimes}`.execute(db);
  return rowCount;
}

/** The same for steps whose execution must be stopped. */
export async function wakeStops(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    with postponed as materialized (
      select run_id, step, item from workflow_steps
      where ready_at > ${farthestDueTime} and status = 'canceling'
      order by ready_at limit ${limit} for update skip locked)
    ${resetFarDueTimes}`.execute(db);
  return rowCount;
}

/** Marks steps as canceled whose execution had ended before it could be stopped. */
export async function markStopped(db: Db, steps: readonly Stopping[]): Promise<void> {
  await sql`
    with stopped as materialized (${lockNamed(rowTable('n', stepKey, steps), isCanceling)})
    update workflow_steps s set status = 'canceled', ready_at = null, completed_at = clock_timestamp()
    from stopped c where s.run_id = c.run_id and s.step = c.step and s.item = c.item`.execute(db);
}

/** Returns claimed steps that could not be called for lack of capacity. The next sweep claims them again. */
export async function releaseSteps(db: Db, steps: readonly WorkflowStepOf[]): Promise<void> {
  await sql`
    with released as materialized (${lockNamed(rowTable('n', stepKey, steps), isReady)})
    update workflow_steps s set ready_at = clock_timestamp()
    from released g where s.run_id = g.run_id and s.step = g.step and s.item = g.item`.execute(db);
}

/** Workflow runs with a passed deadline, the earliest first. */
export async function listOverdueRuns(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workflow_runs where status = 'processing' and deadline_at <= ${statementTime}
    order by deadline_at limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** A step that may be called; `fallback` tells whether to call its fallback. */
export type ReadyStep = WorkflowStepOf & { readonly fallback: boolean };

/**
 * Locks those of these steps that may be called, in admission's transaction, after the worker's row. Skips locked steps, which
 * another process is calling or canceling.
 */
export function lockReadySteps(send: Send, steps: readonly WorkflowStepOf[]): Promise<ReadyStep[]> {
  return send(lockReady, steps);
}

/** Locks ready steps; the caller has locked their runs. Waits if an admission is just calling them. */
export async function lockReadyStepsOfRuns(
  send: Send,
  steps: readonly WorkflowStepOf[],
): Promise<void> {
  await send(lockReadyOfRuns, steps);
}

/** Marks steps as called, with their executions. */
export async function markCalled(send: Send, steps: readonly CalledStep[]): Promise<void> {
  await send(updateCalled, steps);
}

type CalledStep = WorkflowStepOf & { readonly executionId: string };

/** The key of a step. */
export const stepKey: Columns<WorkflowStepOf> = {
  run_id: ['uuid', (one) => one.runId],
  step: ['text', (one) => one.step],
  item: ['int', (one) => one.item],
};
const named = rowSet<WorkflowStepOf>('n', stepKey);
const called = rowSet<CalledStep>('c', {
  ...stepKey,
  execution_id: ['uuid', (one) => one.executionId],
});

/**
 * SQL: locks those of the named steps that satisfy `condition`, in key order. Each is looked up by its key. The condition must
 * not use `status`: PostgreSQL would use the index on it, and compare all named steps with all steps of that status if the
 * table statistics are outdated.
 */
const lockNamed = (steps: Sql, condition: Sql, mode = sql``) => sql`
  select s.run_id, s.step, s.item, s.fallback
  from (
    select * from ${steps}
    order by run_id, step, item) as n
  cross join lateral (
    select s.run_id, s.step, s.item, s.fallback from workflow_steps s
    where s.run_id = n.run_id and s.step = n.step and s.item = n.item and ${condition}
    for update of s ${mode}) as s`;
const isReady = sql`s.variables is not null`;
const isCanceling = sql`s.ready_at is not null and s.variables is null`;
const isOfOpenRun = sql`(select r.completed_at is null from workflow_runs r where r.id = s.run_id)`;

const lockReady = statement<readonly WorkflowStepOf[], ReadyStep>(
  'steps-lock-ready',
)`${lockNamed(named.table, sql`${isReady} and ${isOfOpenRun}`, sql`skip locked`)}`;

const lockReadyOfRuns = statement<readonly WorkflowStepOf[]>(
  'steps-lock-ready-of-runs',
)`${lockNamed(named.table, isReady)}`;

const updateCalled = statement<readonly CalledStep[]>('steps-mark-called')`
  update workflow_steps s set status = 'processing', ready_at = null, variables = null,
    execution_id = c.execution_id, started_at = coalesce(s.started_at, clock_timestamp())
  from ${called.table}
  where s.run_id = c.run_id and s.step = c.step and s.item = c.item`;
