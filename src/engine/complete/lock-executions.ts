import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { Reservation } from '../../core/budget/budget.ts';
import type { Attempt } from '../../core/execution/attempt.ts';
import type { CostSource } from '../../core/model/model-port.ts';
import type { Send } from '../../db/pipeline.ts';
import { statement } from '../../db/statement.ts';
import { begin } from '../../db/statements.ts';
import { type LockedBatch, lockBatches } from '../advance/batch-lines.ts';
import { type LockedWorkflowRun, lockWorkflowRuns } from '../advance/workflow-progress.ts';
import { readSteps, type WorkflowRunSteps } from '../advance/workflow-progress-read.ts';

/**
 * The first of the two batches that end executions: it locks, then reads. `completion.ts` is the second.
 *
 *     batch 1   begin; lock agents with slots, workflow runs, queue rows, batches; read workflow steps
 *     batch 2   move queue rows to the history; grant free slots; write workflow progress; add statistics; commit
 *
 * Invariants
 * - An execution ends once: only the holder of its queue row ends it, and deletes that row.
 * - The caller is the fence: it compares `worker` and `attempt` of the locked row with its own claim and drops stale ends.
 * - Lock order: limits before workflow runs, workflow runs before the queue, then batches, statistics last; each by id.
 * - A slot that becomes free goes to the execution that has waited longest, in the same transaction.
 *
 * Failure cases
 * - The worker dies before the commit: nothing has changed. The sweep returns the execution to the queue.
 * - The commit gets no response: the caller ends the execution again, and finds no queue row if the commit succeeded.
 */

export interface QueuedExecutionRow {
  readonly id: string;
  readonly agentId: string;
  readonly worker: string | null;
  readonly attempt: number;
  readonly failures: number;
  readonly losses: number;
  readonly spentInputTokens: number;
  readonly spentOutputTokens: number;
  readonly spentUsd: string;
  readonly spentKnown: boolean;
  readonly spentSource: CostSource | null;
  readonly spentPriceId: number | null;
  /** After a fallback, the one that replaced the first. */
  readonly model: string;
  /** With the models before it, without losses. */
  readonly earlierAttempts: number;
  /** Finished turns that called tools, and these calls; null if its version executes none. */
  readonly turns: number | null;
  readonly toolCallsMade: number | null;
  readonly attemptList: readonly Attempt[] | null;
  /** Of the call that may be running; null if nothing is reserved. */
  readonly reservations: readonly Reservation[] | null;
  readonly reservedUsd: string | null;
  readonly overrunUsd: string | null;
  /** The database time, read under the lock. */
  readonly nowMs: number;
  readonly startedMs: number | null;
  /** True if an erasure has reached it: its labels are these tags. */
  readonly erased: boolean | null;
  readonly tags: readonly string[] | null;
  /** The workspace, if an endpoint may subscribe to the end. */
  readonly reportingWorkspace: string | null;
}

/**
 * Begins the transaction and locks the queue rows of these executions by id. Before that it locks the agents whose slots
 * become free, and the workflow runs that these executions are steps of; after it their batches.
 */
export async function lockExecutions(
  send: Send,
  ids: readonly string[],
  {
    slotAgentIds,
    steps,
    batchIds,
  }: {
    slotAgentIds: readonly string[];
    steps: readonly WorkflowStepOf[];
    batchIds: readonly string[];
  },
): Promise<{
  rows: QueuedExecutionRow[];
  workflows: LockedWorkflowRun[];
  steps: WorkflowRunSteps;
  batches: LockedBatch[];
}> {
  const runIds = steps.map(({ runId }) => runId);
  const [, , workflows, rows, states, batches] = await Promise.all([
    send(begin),
    slotAgentIds.length > 0 ? send(lockAgents, slotAgentIds) : [],
    steps.length > 0 ? lockWorkflowRuns(send, runIds) : [],
    send(lockQueue, ids),
    steps.length > 0 ? readSteps(send, steps) : { rows: [], items: [] },
    batchIds.length > 0 ? lockBatches(send, batchIds) : [],
  ]);
  return { rows, workflows, steps: states, batches };
}

const lockAgents = statement<readonly string[]>('finish-lock-agents')`
  select subject from limits where subject = any(${(ids) => ids}::uuid[]) order by subject for update`;

const lockQueue = statement<readonly string[], QueuedExecutionRow>('finish-lock-queue')`
  select id, agent_id, worker, attempt, failures, losses, model, earlier_attempts, attempt_list, turns, tool_calls_made,
    spent_input_tokens, spent_output_tokens, spent_usd, spent_known, spent_source, spent_price_id,
    reservations, reserved_usd, overrun_usd,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
    (extract(epoch from started_at) * 1000)::float8 as started_ms,
    erased, case when erased then tags end as tags,
    case when exists (select from endpoints p where p.workspace_id = q.workspace_id and p.enabled
      and p.event_types && '{execution.succeeded,execution.failed,execution.canceled}')
      then workspace_id end as reporting_workspace
  from execution_queue q where id = any(${(ids) => ids}::uuid[]) order by id for update`;
