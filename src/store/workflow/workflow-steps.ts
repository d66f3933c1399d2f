import { CompiledQuery, sql } from 'kysely';
import type { Stage } from '../../core/agent/agent.ts';
import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { Counts } from '../../core/execution/limits.ts';
import { counted } from '../admission/limits.ts';
import { statementTime, farthestDueTime } from '../connection/clock.ts';
import type { Db } from '../connection/database.ts';
import type { Send, Statement, Value } from '../connection/pipeline.ts';
import type { Stopping } from './workflow-progress.ts';

/** Steps that somebody must still see to: those that are ready, and those whose execution must still be stopped. */

/** A step that is ready, with what is needed to call its agent. */
export interface DueStep extends WorkflowStepOf {
  readonly fallback: boolean;
  readonly variables: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly workflowId: string;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
}

/** An agent that steps wait for whose time has come, as admission last left its counts. */
export interface DueAgentRow {
  readonly agentId: string;
  /** Null, as what follows, where there is no such agent. */
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

/** The agents that steps wait for, and at last null. */
const waitedFor = sql`waited_for as (
  (select agent_id from workflow_steps where status = 'ready' order by agent_id limit 1)
  union all
  select (select s.agent_id from workflow_steps s
    where s.status = 'ready' and s.agent_id > w.agent_id order by s.agent_id limit 1)
  from waited_for w where w.agent_id is not null)`;

/**
 * However many steps wait for an agent, it is one look into the index. Of more agents than the limit, each workspace has
 * as many as the others, and which ones is left to chance: those whose windows are full would wait first, and for ever.
 */
export async function findDueAgents(db: Db, limit: number): Promise<DueAgentRow[]> {
  const { rows } = await sql<DueAgentRow>`
    with recursive ${waitedFor}
    select w.agent_id, a.workspace_id, a.stage, a.archived_at is not null as archived, a.api_enabled,
      a.requests_per_minute, a.requests_per_hour, a.requests_per_day, ${counted('w.agent_id')}
    from waited_for w cross join lateral (
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
 * Takes ready steps whose time has come, of each agent at most so many, for as long as whoever makes a step ready has it
 * for itself. What others have locked is being taken already. At least one is taken, however long its variables.
 */
export async function claimDueSteps(
  db: Db,
  agents: readonly { readonly agentId: string; readonly stepsMax: number }[],
  { stepsMax, bytesMax }: { readonly stepsMax: number; readonly bytesMax: number },
): Promise<DueStep[]> {
  const { rows } = await sql<DueStep>`
    with due as materialized (
      select s.*, place from unnest(${agents.map((one) => one.agentId)}::uuid[],
          ${agents.map((one) => one.stepsMax)}::int[]) with ordinality as a (agent_id, steps_max, place)
        cross join lateral (
          select run_id, step, item, ready_at, octet_length(variables) as bytes from workflow_steps
          where agent_id = a.agent_id and status = 'ready' and ready_at <= ${statementTime}
          order by ready_at limit a.steps_max for update skip locked) as s
      limit ${stepsMax}),
    fitting as (
      select *, sum(bytes) over (order by place, ready_at, run_id, item, step) - bytes as bytes_before from due)
    update workflow_steps s set ready_at = clock_timestamp() + interval '5 seconds'
    from fitting f join workflow_runs r on r.id = f.run_id
    where s.run_id = f.run_id and s.step = f.step and s.item = f.item and f.bytes_before <= ${bytesMax}
    returning s.run_id, s.step, s.item, s.fallback, s.variables, s.agent_id, r.workspace_id, r.workflow_id,
      r.api_key_id, r.executed_by`.execute(db);
  return rows;
}

/** The same of those whose execution must still be stopped. */
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

const wakeLate = sql`
  update workflow_steps s set ready_at = clock_timestamp()
  from late where s.run_id = late.run_id and s.step = late.step and s.item = late.item`;

/** Has up to so many ready steps wait no longer that wait for a time which may be years off; answers how many. */
export async function wakeSteps(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with recursive ${waitedFor},
    late as materialized (
      select late.* from waited_for w cross join lateral (
        select run_id, step, item from workflow_steps
        where agent_id = w.agent_id and status = 'ready' and ready_at > ${farthestDueTime}
        order by ready_at limit ${limit} for update skip locked) as late
      limit ${limit})
    ${wakeLate}`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** The same of those whose execution must still be stopped. */
export async function wakeStops(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with late as materialized (
      select run_id, step, item from workflow_steps
      where ready_at > ${farthestDueTime} and status = 'canceling'
      order by ready_at limit ${limit} for update skip locked)
    ${wakeLate}`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** The steps whose execution had ended before it could be stopped. */
export async function markStopped(db: Db, steps: readonly Stopping[]): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(updateStopped, keyValues(steps)));
}

/** Gives back steps that were taken, and for which there was no room: whoever sweeps takes them when there is. */
export async function releaseSteps(db: Db, steps: readonly WorkflowStepOf[]): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(updateGivenBack, keyValues(steps)));
}

/** Runs whose deadline has passed, the earliest first. */
export async function listOverdueRuns(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workflow_runs where status = 'processing' and deadline_at <= ${statementTime}
    order by deadline_at limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** A step that may be called, and whether its fallback is what is to be called. */
export type ReadyStep = WorkflowStepOf & { readonly fallback: boolean };

/**
 * Locks those of these steps that may be called, in admission's own transaction, after the worker's row: they stay ready
 * until its end. What another has locked is being taken by it, or canceled.
 */
export async function lockReadySteps(
  send: Send,
  steps: readonly WorkflowStepOf[],
): Promise<ReadyStep[]> {
  const rows = await send<{ run_id: string; step: string; item: number; fallback: boolean }>(
    lockReady,
    keyValues(steps),
  );
  return rows.map(({ run_id: runId, ...row }) => ({ ...row, runId }));
}

/** Locks ready steps for whoever holds the lock of their run: somebody may just be taking them. */
export async function lockReadyStepsOfRuns(send: Send, steps: readonly WorkflowStepOf[]): Promise<void> {
  await send(holdReady, keyValues(steps));
}

/** The steps that were called, with their executions. */
export async function markCalled(
  send: Send,
  steps: readonly (WorkflowStepOf & { readonly executionId: string })[],
): Promise<void> {
  await send(updateCalled, [...keyValues(steps), steps.map((one) => one.executionId)]);
}

export function keyValues(steps: readonly WorkflowStepOf[]): Value[] {
  return [
    steps.map((one) => one.runId),
    steps.map((one) => one.step),
    steps.map((one) => one.item),
  ];
}

/**
 * Locks those of named steps that are as they must be, in the order of all. Each is looked up by its key, and what it must
 * be is told by its columns and not by its status, of which there is an index: PostgreSQL would go through that, and
 * compare each of the named with each of its steps, wherever there were none when it last counted.
 */
const lockNamed = (which: string, how = '') => `
  select s.run_id, s.step, s.item, s.fallback
  from (
    select * from unnest($1::uuid[], $2::text[], $3::int[]) as n (run_id, step, item)
    order by run_id, step, item) as n
  cross join lateral (
    select s.run_id, s.step, s.item, s.fallback from workflow_steps s
    where s.run_id = n.run_id and s.step = n.step and s.item = n.item and ${which}
    for update of s ${how}) as s`;
const isReady = 's.variables is not null';
const isCanceling = 's.ready_at is not null and s.variables is null';
const isOfOpenRun = '(select r.completed_at is null from workflow_runs r where r.id = s.run_id)';

const lockReady: Statement = {
  name: 'steps-lock-ready',
  text: lockNamed(`${isReady} and ${isOfOpenRun}`, 'skip locked'),
};

const holdReady: Statement = { name: 'steps-hold-ready', text: lockNamed(isReady) };

const updateGivenBack = `
  with given as materialized (${lockNamed(isReady)})
  update workflow_steps s set ready_at = clock_timestamp()
  from given g where s.run_id = g.run_id and s.step = g.step and s.item = g.item`;

const updateStopped = `
  with stopped as materialized (${lockNamed(isCanceling)})
  update workflow_steps s set status = 'canceled', ready_at = null, completed_at = clock_timestamp()
  from stopped c where s.run_id = c.run_id and s.step = c.step and s.item = c.item`;

const updateCalled: Statement = {
  name: 'steps-mark-called',
  text: `update workflow_steps s set status = 'processing', ready_at = null, variables = null,
      execution_id = c.execution_id, started_at = coalesce(s.started_at, clock_timestamp())
    from unnest($1::uuid[], $2::text[], $3::int[], $4::uuid[]) as c (run_id, step, item, execution_id)
    where s.run_id = c.run_id and s.step = c.step and s.item = c.item`,
};
