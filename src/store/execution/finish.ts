import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { Attempt } from '../../core/execution/attempt.ts';
import type { EndStatus } from '../../core/execution/execution.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import type { Tally } from '../../core/history/statistics.ts';
import type { AnswerDetails, CostSource } from '../../core/model/model-port.ts';
import type { Send, Statement, Value } from '../connection/pipeline.ts';
import { begin, columnsOf, commit } from '../connection/statements.ts';
import { idBounds } from '../history/id-bounds.ts';
import { addStatistics } from '../history/statistics.ts';
import { type LockedWorkflowRun, lockWorkflowRuns } from '../workflow/workflow-progress.ts';
import { readSteps, type WorkflowRunSteps } from '../workflow/workflow-progress-read.ts';

/**
 * Ends executions: one transaction of two batches. The first locks, the second writes and commits.
 *
 *     batch 1   begin; lock agents with slots, workflow runs, queue rows; read workflow steps
 *     batch 2   delete queue rows; grant free slots; update records; write workflow progress; add statistics; commit
 *
 * Invariants
 * - An execution ends once: only the holder of its queue row ends it, and deletes that row.
 * - The caller is the fence: it compares `worker` and `attempt` of the locked row with its own claim and drops stale ends.
 * - Lock order: limits before workflow runs, workflow runs before the queue, statistics last; each by id.
 * - A slot that becomes free goes to the execution that has waited longest, in the same transaction.
 *
 * Failure cases
 * - The worker dies before the commit: nothing has changed. The sweep returns the execution to the queue.
 * - The commit gets no response: the caller ends the execution again, and finds no queue row if the commit succeeded.
 */

export interface QueuedExecutionRow {
  readonly id: string;
  readonly agent_id: string;
  readonly worker: string | null;
  readonly attempt: number;
  readonly failures: number;
  readonly losses: number;
  readonly spent_input_tokens: number;
  readonly spent_output_tokens: number;
  readonly spent_usd: string;
  readonly spent_known: boolean;
  readonly spent_source: CostSource | null;
  /** Since the last fallback; null without one. */
  readonly model: string | null;
  /** With the models before it, without losses. */
  readonly earlier_attempts: number;
  readonly attempt_list: readonly Attempt[] | null;
  /** The database time, read under the lock. */
  readonly now_ms: number;
  readonly started_ms: number | null;
}

/**
 * Begins the transaction and locks the queue rows of these executions by id. Before that it locks the agents whose slots
 * become free, and the workflow runs that these executions are steps of.
 */
export async function lockExecutions(
  send: Send,
  ids: readonly string[],
  { slotAgentIds, steps }: { slotAgentIds: readonly string[]; steps: readonly WorkflowStepOf[] },
): Promise<{
  rows: QueuedExecutionRow[];
  workflows: LockedWorkflowRun[];
  steps: WorkflowRunSteps;
}> {
  const runIds = steps.map(({ runId }) => runId);
  const [, , workflows, rows, states] = await Promise.all([
    send(begin),
    slotAgentIds.length > 0 ? send(lockAgents, [slotAgentIds]) : [],
    steps.length > 0 ? lockWorkflowRuns(send, runIds) : [],
    send<QueuedExecutionRow>(lockQueue, [ids]),
    steps.length > 0 ? readSteps(send, steps) : { rows: [], items: [] },
  ]);
  return { rows, workflows, steps: states };
}

/** The end of an execution, as its record will show it. */
export interface EndedExecution extends AnswerDetails {
  readonly id: string;
  readonly agentId: string;
  readonly status: EndStatus;
  readonly completedMs: number;
  readonly startedMs: number | null;
  readonly latencyMs: number;
  /** Whose answer was used, or that was called last. */
  readonly model: string;
  readonly attempts: number;
  /** JSON; null if the record itself describes the only attempt. */
  readonly attemptList: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  readonly costKnown: boolean;
  readonly costSource: CostSource | null;
  readonly finishReason: string | null;
  /** Joined by commas; null if all were applied. */
  readonly settingsNotApplied: string | null;
  readonly errorCode: ExecutionErrorCode | null;
  readonly error: string | null;
  readonly systemPrompt: string | null;
  readonly userPrompt: string | null;
  /** What was sent beside the prompts, as JSON text. */
  readonly request: string | null;
  readonly output: string | null;
  /** JSON text. */
  readonly outputJson: string | null;
  /** As JSON text; null if there are none. */
  readonly toolCalls: string | null;
  /** If false, the record keeps only the output or the refusal, for a short time. */
  readonly storeBodies: boolean;
}

export async function writeEnds(
  send: Send,
  ended: readonly EndedExecution[],
  more: {
    readonly tallies: readonly Tally[];
    /** Workers that must abort an execution. */
    readonly cancellations: readonly { executionId: string; worker: string }[];
    readonly slotAgentIds: readonly string[];
    /** Workflow runs with an ended step whose agent stores no bodies. */
    readonly transientExecutionIds: readonly string[];
    /** Sends the statements for workflow runs. */
    readonly inSameTransaction: () => readonly Promise<unknown>[];
  },
): Promise<void> {
  const { cancellations, slotAgentIds, transientExecutionIds } = more;
  const transient = ended.filter(
    (one) => !one.storeBodies && (one.output ?? one.refusalText) !== null,
  );
  await Promise.all([
    ended.length > 0 ? send(deleteFromQueue, [ended.map((one) => one.id)]) : [],
    slotAgentIds.length > 0 ? send(grantFreeSlots, [slotAgentIds]) : [],
    cancellations.length > 0
      ? send(insertCancellations, [
          cancellations.map((one) => one.executionId),
          cancellations.map((one) => one.worker),
        ])
      : [],
    transientExecutionIds.length > 0
      ? send(markTransientWorkflowRuns, [transientExecutionIds])
      : [],
    ended.length > 0 ? send(updateExecutions, executionValues(ended)) : [],
    transient.length > 0 ? send(insertTransientOutputs, [transient.map((one) => one.id)]) : [],
    ...more.inSameTransaction(),
    addStatistics(send, more.tallies),
    send(commit),
  ]);
}

const lockAgents: Statement = {
  name: 'finish-lock-agents',
  text: `select subject from limits where subject = any($1::uuid[]) order by subject for update`,
};

const lockQueue: Statement = {
  name: 'finish-lock-queue',
  text: `select id, agent_id, worker, attempt, failures, losses, model, earlier_attempts, attempt_list,
      spent_input_tokens, spent_output_tokens, spent_usd, spent_known, spent_source,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
      (extract(epoch from started_at) * 1000)::float8 as started_ms
    from execution_queue where id = any($1::uuid[]) order by id for update`,
};

const deleteFromQueue: Statement = {
  name: 'finish-delete-from-queue',
  text: `delete from execution_queue where id = any($1::uuid[])`,
};

/**
 * Grants the free slots of these agents to the executions that have waited longest; needs the agents' locks. It updates by
 * key: PostgreSQL overestimates the rows of a join and would read all waiting executions for each slot.
 */
export const grantFreeSlots: Statement = {
  name: 'finish-grant-free-slots',
  text: `update execution_queue q set has_slot = true, available_at = clock_timestamp()
    where q.id = any(array(
      select waiting.id from agents a cross join lateral (
        select w.id from execution_queue w where w.agent_id = a.id and w.has_slot = false
        order by w.id
        limit greatest(0, coalesce((a.config ->> 'maxConcurrency')::int, 2147483647) -
          (select count(*) from execution_queue h where h.agent_id = a.id and h.has_slot))) as waiting
      where a.id = any($1::uuid[])))`,
};

const insertCancellations: Statement = {
  name: 'finish-insert-cancellations',
  text: `insert into cancellations (execution_id, worker)
    select c.execution_id, c.worker from unnest($1::uuid[], $2::uuid[]) as c (execution_id, worker)
    join workers w on w.id = c.worker
    on conflict do nothing`,
};

// Such a run must not keep bodies for longer than necessary. The run is locked already. This precedes the end of the run,
// unless the run ended when the step was stopped.
const markTransientWorkflowRuns: Statement = {
  name: 'finish-mark-transient-runs',
  text: `update workflow_runs set bodies = 'transient', input = case when status = 'processing' then input end
    where id = any($1::uuid[]) and bodies = 'stored'`,
};

const insertTransientOutputs: Statement = {
  name: 'finish-insert-transient-outputs',
  text: `insert into transient_outputs (execution_id, ended_at)
    select unnest($1::uuid[]), clock_timestamp()`,
};

// The variables were needed until now, because another worker might have had to take over the execution.
const updateExecutions: Statement = {
  name: 'finish-update-executions',
  text: `update executions e set status = f.status, completed_at = to_timestamp(f.completed / 1000),
      started_at = to_timestamp(f.started / 1000), latency_ms = f.latency_ms, attempts = f.attempts,
      input_tokens = f.input_tokens, output_tokens = f.output_tokens, cost_usd = f.cost_usd,
      cost_known = f.cost_known, settings_not_applied = string_to_array(f.settings_not_applied, ','),
      finish_reason = f.finish_reason, error_code = f.error_code, error = f.error,
      system_prompt = f.system_prompt, user_prompt = f.user_prompt, output = f.output,
      reasoning_text = f.reasoning_text, reasoning_tokens = f.reasoning_tokens,
      model_answered = f.model_answered, provider_request_id = f.provider_request_id,
      refusal_text = f.refusal_text, cost_source = f.cost_source,
      output_json = f.output_json,
      request = f.request, tool_calls = f.tool_calls,
      model = f.model, attempt_list = f.attempt_list::jsonb,
      input_variables = case when f.store_bodies then e.input_variables end,
      file_data = case when f.store_bodies then e.file_data end,
      ip_address = case when f.store_bodies then e.ip_address end,
      user_agent = case when f.store_bodies then e.user_agent end,
      settings = null
    from unnest($1::uuid[], $2::execution_status[], $3::float8[], $4::float8[], $5::int[], $6::smallint[],
      $7::int[], $8::int[], $9::numeric[], $10::bool[], $11::text[], $12::text[], $13::text[], $14::text[],
      $15::text[], $16::text[], $17::bool[], $18::text[], $19::text[], $20::int[], $21::text[], $22::text[],
      $23::text[], $24::text[], $25::text[], $26::text[], $27::json[], $28::json[], $29::json[])
      as f (id, status, completed, started, latency_ms, attempts, input_tokens, output_tokens, cost_usd,
        cost_known, finish_reason, error_code, error, system_prompt, user_prompt, output, store_bodies,
        settings_not_applied, reasoning_text, reasoning_tokens, model_answered, provider_request_id, refusal_text,
        cost_source, model, attempt_list, request, tool_calls, output_json)
    where e.id = f.id and e.id = any($1::uuid[]) and e.id between $30::uuid and $31::uuid`,
};

function executionValues(ended: readonly EndedExecution[]): Value[] {
  const values = columnsOf(
    ended,
    ['id', 'status', 'completedMs', 'startedMs', 'latencyMs', 'attempts'],
    ['inputTokens', 'outputTokens', 'costUsd', 'costKnown'],
    ['finishReason', 'errorCode', 'error'],
    ['systemPrompt', 'userPrompt', 'output', 'storeBodies', 'settingsNotApplied'],
    ['reasoningText', 'reasoningTokens', 'modelAnswered', 'providerRequestId', 'refusalText'],
    ['costSource', 'model', 'attemptList'],
    ['request', 'toolCalls'],
    ['outputJson'],
  );
  return [...values, ...idBounds(ended.map((one) => one.id))];
}
