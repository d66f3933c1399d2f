import type { NewEvent } from '../../core/event/event.ts';
import { storable } from '../../core/storable-text.ts';
import type { WorkflowRunStatus } from '../../core/workflow/definition.ts';
import type { RunEnd, StepState } from '../../core/workflow/step-state.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { begin } from '../../db/statements.ts';

/**
 * Writes the progress of workflow runs. The functions are parts of a transaction that the caller begins and commits.
 *
 * States of a step: ready (can be called), processing (has an execution), then success, failed, skipped or canceled. When a run
 * ends, a step with a live execution becomes `canceling` until that execution was stopped.
 *
 * Invariants
 * - The lock of the run's row protects its steps: they are read and written under it, and runs are locked by id.
 * - A step that becomes ready is due after a few seconds. Until then the process that made it ready calls it without a
 *   competitor; afterwards any sweep may call it. A crash therefore loses no step.
 * - The end of a run and the cancellation of its remaining steps are one transaction.
 *
 * Failure cases
 * - The process dies after the commit: sweeps call the ready steps and stop the remaining executions.
 * - A paused process holds the lock of a run: other transactions time out on the lock and retry.
 */

/** A workflow run whose lock the transaction holds. */
export interface LockedWorkflowRun {
  readonly id: string;
  readonly workspaceId: string;
  readonly workflowId: string;
  readonly workflowVersionId: string;
  readonly status: WorkflowRunStatus;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
  /** JSON text; null if it has none. */
  readonly labels: string | null;
  /** Decimal text; null for no limit. It never changes. */
  readonly maxCostUsd: string | null;
  /** The database time, if an endpoint may subscribe to its end. */
  readonly reportingMs: number | null;
}

export type WorkflowRunStepState = StepState & { readonly runId: string };

/**
 * Begins a transaction with a lock timeout. Few of these transactions run at once, and those of a paused process must not block
 * all others.
 */
export function beginProgress(send: Send): Promise<unknown> {
  return Promise.all([send(begin), send(limitLockWait)]);
}

const limitLockWait = statement<void>('progress-lock-timeout')`set local lock_timeout = '5s'`;

/** Locks workflow runs by id. */
export function lockWorkflowRuns(
  send: Send,
  runIds: readonly string[],
): Promise<LockedWorkflowRun[]> {
  return send(lockRunRows, runIds);
}

/** Locks workflow runs by id, skipping those that another transaction has locked. */
export function tryLockWorkflowRuns(
  send: Send,
  runIds: readonly string[],
): Promise<LockedWorkflowRun[]> {
  return send(lockFree, runIds);
}

/** `agentId` is set for a ready step. */
export type WrittenStep = WorkflowRunStepState & { readonly agentId?: string };

export interface ProgressWrites {
  readonly steps: readonly WrittenStep[];
  readonly ends: readonly {
    readonly runId: string;
    readonly end: RunEnd;
    /** The outbound event, if an endpoint may subscribe to it. */
    readonly event?: NewEvent | null;
  }[];
}

/** An execution that must be stopped because its workflow run has ended. */
export interface Stopping {
  readonly runId: string;
  readonly step: string;
  readonly item: number;
  readonly executionId: string;
}

/** Returns the executions to stop. Cancels all other open steps of ended runs. */
export async function writeProgress(
  send: Send,
  { steps, ends }: ProgressWrites,
): Promise<Stopping[]> {
  const [, stopped] = await Promise.all([
    steps.length > 0 ? send(upsertSteps, steps) : [],
    ends.length > 0 ? send(stopSteps, ends) : [],
    ends.length > 0 ? send(endWorkflowRuns, ends) : [],
  ]);
  return stopped.flatMap(({ status, executionId, ...one }) =>
    status === 'canceling' && executionId !== null ? [{ ...one, executionId }] : [],
  );
}

interface StoppedRow extends Omit<Stopping, 'executionId'> {
  readonly status: string;
  readonly executionId: string | null;
}

/** How long a ready step is reserved for the process that made it ready. */
const reservedFor = sql`interval '5 seconds'`;

const lockedRuns = sql`
  select id, workspace_id, workflow_id, workflow_version_id, status, api_key_id, executed_by, labels, max_cost_usd,
    case when exists (select from endpoints p where p.workspace_id = r.workspace_id and p.enabled
      and p.event_types && '{workflow_run.succeeded,workflow_run.failed,workflow_run.canceled}')
      then (extract(epoch from clock_timestamp()) * 1000)::float8 end as reporting_ms
  from workflow_runs r where id = any(${(runIds: readonly string[]) => [...new Set(runIds)]}::uuid[])
  order by id for no key update`;

const lockRunRows = statement<readonly string[], LockedWorkflowRun>(
  'progress-lock-runs',
)`${lockedRuns}`;

const lockFree = statement<readonly string[], LockedWorkflowRun>(
  'progress-lock-free-runs',
)`${lockedRuns} skip locked`;

type Ending = ProgressWrites['ends'][number];

// Waits for a step that is just being called, and then stops its execution.
const stopSteps = statement<readonly Ending[], StoppedRow>('progress-stop-steps')`
  with remaining as materialized (
    select run_id, step, item, status in ('ready', 'processing') as open,
      status = 'processing' and execution_id is not null as running
    from workflow_steps
    where run_id = any(${(ends) => ends.map(({ runId }) => runId)}::uuid[])
      and (status in ('ready', 'processing') or output is not null or items is not null)
    order by run_id, step, item for update)
  update workflow_steps s set
    status = case when l.running then 'canceling' when l.open then 'canceled' else s.status end,
    ready_at = case when l.running then clock_timestamp() + ${reservedFor} end,
    completed_at = case when l.open and not l.running then clock_timestamp() else s.completed_at end,
    variables = null, items = null, output = null
  from remaining l where s.run_id = l.run_id and s.step = l.step and s.item = l.item
  returning s.run_id, s.step, s.item, s.status, s.execution_id`;

const failureOf = ({ end }: Ending) => (end.status === 'success' ? null : end);

const endings = rowSet<Ending>('e', {
  id: ['uuid', (one) => one.runId],
  status: ['text', (one) => one.end.status],
  output: ['text', ({ end }) => (end.status === 'success' ? end.output : null)],
  error_code: ['text', (one) => failureOf(one)?.errorCode],
  error: ['text', (one) => storableOrNull(failureOf(one)?.error)],
  failed_step: ['text', (one) => failureOf(one)?.failedStep],
});

/** An error may quote a value, which may contain what PostgreSQL cannot store. */
function storableOrNull(text: string | null | undefined): string | null {
  return text == null ? null : storable(text);
}

const endWorkflowRuns = statement<readonly Ending[]>('progress-end-runs')`
  update workflow_runs r set status = e.status, completed_at = clock_timestamp(), output = e.output::json,
    input = case when r.bodies = 'stored' then r.input end, error_code = e.error_code, error = e.error, failed_step = e.failed_step
  from ${endings.table}
  where r.id = e.id`;

/** Values are JSON, whose escapes make every text storable. */
const written = rowSet<WrittenStep>('w', {
  run_id: ['uuid', (one) => one.runId],
  step: ['text', (one) => one.step],
  item: ['int', (one) => one.item],
  status: ['text', (one) => one.status],
  variables: ['text', (one) => one.variables],
  agent_id: ['uuid', (one) => one.agentId],
  execution_id: ['uuid', (one) => one.executionId],
  failed_execution_id: ['uuid', (one) => one.failedExecutionId],
  fallback: ['bool', (one) => one.fallback],
  items: ['text', (one) => one.items],
  items_count: ['int', (one) => one.itemsCount],
  output: ['text', (one) => one.output],
  error_code: ['text', (one) => one.errorCode],
  error: ['text', (one) => storableOrNull(one.error)],
});

const upsertSteps = statement<readonly WrittenStep[]>('progress-upsert-steps')`
  insert into workflow_steps as s (run_id, step, item, status, ready_at, variables, agent_id,
    execution_id, failed_execution_id, fallback, items, items_count, output, error_code, error, started_at, completed_at)
  select run_id, step, item, status, case when status = 'ready' then clock_timestamp() + ${reservedFor} end, variables,
    agent_id, execution_id, failed_execution_id, fallback, items::json, items_count, output::json, error_code, error,
    case when status = 'processing' then clock_timestamp() end,
    case when status not in ('ready', 'processing') then clock_timestamp() end
  from ${written.table}
  order by run_id, step, item
  on conflict (run_id, step, item) do update set status = excluded.status, ready_at = excluded.ready_at,
    variables = excluded.variables, agent_id = excluded.agent_id, execution_id = excluded.execution_id,
    failed_execution_id = excluded.failed_execution_id, fallback = excluded.fallback, items = excluded.items,
    items_count = excluded.items_count, output = excluded.output, error_code = excluded.error_code,
    error = excluded.error, started_at = coalesce(s.started_at, excluded.started_at),
    completed_at = excluded.completed_at`;
