import { sql } from 'kysely';
import type { WorkflowStepOf } from '../core/settings.ts';
import type { Db } from './db.ts';
import type { Send, Statement } from './pipeline.ts';
import type { Stopping } from './workflow-progress.ts';

/** Steps that somebody must still see to: those that are ready, and those whose execution must still be stopped. */

/** A step that is ready, with what is needed to call its agent. */
export interface DueStep extends WorkflowStepOf {
  readonly fallback: boolean;
  readonly variables: string;
  readonly workspaceId: string;
  readonly workflowId: string;
  readonly workflowVersionId: string;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
}

/**
 * Takes up to `limit` ready steps whose time has come, for as long as whoever makes a step ready has it for itself. What
 * others have locked is being taken already.
 */
export async function takeDueSteps(db: Db, limit: number): Promise<DueStep[]> {
  const { rows } = await sql<DueStep>`
    with due as materialized (
      select run_id, step, item from workflow_steps
      where ready_at <= clock_timestamp() and status = 'ready'
      order by ready_at limit ${limit} for update skip locked)
    update workflow_steps s set ready_at = clock_timestamp() + interval '5 seconds'
    from due join workflow_runs r on r.id = due.run_id
    where s.run_id = due.run_id and s.step = due.step and s.item = due.item
    returning s.run_id, s.step, s.item, s.fallback, s.variables, r.workspace_id, r.workflow_id,
      r.workflow_version_id, r.api_key_id, r.executed_by`.execute(db);
  return rows;
}

/** The same of those whose execution must still be stopped. */
export async function takeDueStops(db: Db, limit: number): Promise<Stopping[]> {
  const { rows } = await sql<Stopping>`
    with due as materialized (
      select run_id, step, item from workflow_steps
      where ready_at <= clock_timestamp() and status = 'canceling'
      order by ready_at limit ${limit} for update skip locked)
    update workflow_steps s set ready_at = clock_timestamp() + interval '5 seconds'
    from due where s.run_id = due.run_id and s.step = due.step and s.item = due.item
    returning s.run_id, s.step, s.item, s.execution_id`.execute(db);
  return rows;
}

/** The steps whose execution had ended before it could be stopped. */
export async function markStopped(db: Db, steps: readonly Stopping[]): Promise<void> {
  await sql`
    with stopped as materialized (
      select s.run_id, s.step, s.item
      from unnest(${steps.map((one) => one.runId)}::uuid[], ${steps.map((one) => one.step)}::text[],
          ${steps.map((one) => one.item)}::int[]) as c (run_id, step, item)
        join workflow_steps s on s.run_id = c.run_id and s.step = c.step and s.item = c.item
      where s.status = 'canceling' order by s.run_id, s.step, s.item for update of s)
    update workflow_steps s set status = 'canceled', ready_at = null, completed_at = clock_timestamp()
    from stopped c where s.run_id = c.run_id and s.step = c.step and s.item = c.item`.execute(db);
}

/** Lets ready steps wait, each so long, until anyone takes them again. */
export async function postponeSteps(
  db: Db,
  steps: readonly (WorkflowStepOf & { readonly delayMs: number })[],
): Promise<void> {
  await sql`
    with held_up as materialized (
      select s.run_id, s.step, s.item, p.delay_ms
      from unnest(${steps.map((one) => one.runId)}::uuid[], ${steps.map((one) => one.step)}::text[],
          ${steps.map((one) => one.item)}::int[], ${steps.map((one) => one.delayMs)}::float8[])
          as p (run_id, step, item, delay_ms)
        join workflow_steps s on s.run_id = p.run_id and s.step = p.step and s.item = p.item
      where s.status = 'ready' order by s.run_id, s.step, s.item for update of s)
    update workflow_steps s set ready_at = clock_timestamp() + p.delay_ms * interval '1 millisecond'
    from held_up p where s.run_id = p.run_id and s.step = p.step and s.item = p.item`.execute(db);
}

/** Runs whose deadline has passed, the earliest first. */
export async function overdueRuns(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workflow_runs where status = 'processing' and deadline_at <= clock_timestamp()
    order by deadline_at limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Locks those of these steps that may be called, in admission's own transaction, after the worker's row: they stay ready
 * until its end. What another has locked is being taken by it, or canceled.
 */
export async function lockReadySteps(
  send: Send,
  steps: readonly WorkflowStepOf[],
): Promise<WorkflowStepOf[]> {
  const rows = await send<{ run_id: string; step: string; item: number }>(
    lockReady,
    keyValues(steps),
  );
  return rows.map(({ run_id: runId, ...row }) => ({ ...row, runId }));
}

/** Locks ready steps for whoever holds the lock of their run: somebody may just be taking them. */
export async function holdReadySteps(send: Send, steps: readonly WorkflowStepOf[]): Promise<void> {
  await send(holdReady, keyValues(steps));
}

/** The steps that were called, with their executions. */
export async function markCalled(
  send: Send,
  steps: readonly (WorkflowStepOf & { readonly executionId: string })[],
): Promise<void> {
  await send(updateCalled, [...keyValues(steps), steps.map((one) => one.executionId)]);
}

export function keyValues(steps: readonly WorkflowStepOf[]): unknown[] {
  return [
    steps.map((one) => one.runId),
    steps.map((one) => one.step),
    steps.map((one) => one.item),
  ];
}

const lockReady: Statement = {
  name: 'steps-lock-ready',
  text: `select s.run_id, s.step, s.item
    from unnest($1::uuid[], $2::text[], $3::int[]) as a (run_id, step, item)
      join workflow_steps s on s.run_id = a.run_id and s.step = a.step and s.item = a.item
      join workflow_runs r on r.id = s.run_id
    where s.status = 'ready' and r.status = 'processing'
    order by s.run_id, s.step, s.item for update of s skip locked`,
};

const holdReady: Statement = {
  name: 'steps-hold-ready',
  text: `select from unnest($1::uuid[], $2::text[], $3::int[]) as a (run_id, step, item)
      join workflow_steps s on s.run_id = a.run_id and s.step = a.step and s.item = a.item
    where s.status = 'ready' order by s.run_id, s.step, s.item for update of s`,
};

const updateCalled: Statement = {
  name: 'steps-mark-called',
  text: `update workflow_steps s set status = 'processing', ready_at = null, variables = null,
      execution_id = c.execution_id, started_at = coalesce(s.started_at, clock_timestamp())
    from unnest($1::uuid[], $2::text[], $3::int[], $4::uuid[]) as c (run_id, step, item, execution_id)
    where s.run_id = c.run_id and s.step = c.step and s.item = c.item`,
};
