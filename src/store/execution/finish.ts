import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { EndStatus } from '../../core/execution/execution.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import type { Tally } from '../../core/history/statistics.ts';
import type { Send, Statement, Value } from '../connection/pipeline.ts';
import { idBounds } from '../history/id-bounds.ts';
import { addStatistics } from '../history/statistics.ts';
import { lockWorkflowRuns, type LockedWorkflowRun } from '../workflow/workflow-progress.ts';
import { readSteps, type WorkflowRunSteps } from '../workflow/workflow-progress-read.ts';

/** The end of runs: lock the queue rows, then delete them, write the records and add to the statistics at once. */

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
  /** By the database's clock, read under the lock. */
  readonly now_ms: number;
  readonly started_ms: number | null;
}

/**
 * Begins the transaction and locks the rows of these runs, by id. Agents that hand out slots are locked before, and then
 * the runs of workflows that these are steps of: limits come before workflows, workflows before the queue.
 */
export async function lockExecutions(
  send: Send,
  ids: readonly string[],
  { slotAgentIds, steps }: { slotAgentIds: readonly string[]; steps: readonly WorkflowStepOf[] },
): Promise<{ rows: QueuedExecutionRow[]; workflows: LockedWorkflowRun[]; steps: WorkflowRunSteps }> {
  const runIds = steps.map(({ runId }) => runId);
  const [, , workflows, rows, states] = await Promise.all([
    send({ name: 'begin', text: 'begin isolation level read committed' }),
    slotAgentIds.length > 0 ? send(lockAgents, [slotAgentIds]) : [],
    steps.length > 0 ? lockWorkflowRuns(send, runIds) : [],
    send<QueuedExecutionRow>(lockQueue, [ids]),
    steps.length > 0 ? readSteps(send, steps) : { rows: [], items: [] },
  ]);
  return { rows, workflows, steps: states };
}

/** How one run ended, as its record will say. */
export interface EndedExecution {
  readonly id: string;
  readonly agentId: string;
  readonly status: EndStatus;
  readonly completedMs: number;
  readonly startedMs: number | null;
  readonly latencyMs: number;
  readonly attempts: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  readonly costKnown: boolean;
  readonly finishReason: string | null;
  readonly errorCode: ExecutionErrorCode | null;
  readonly error: string | null;
  readonly systemPrompt: string | null;
  readonly userPrompt: string | null;
  readonly output: string | null;
  /** Where not, of the bodies only the output stays, for a while. */
  readonly storeBodies: boolean;
}

export async function writeEnds(
  send: Send,
  ended: readonly EndedExecution[],
  more: {
    readonly tallies: readonly Tally[];
    /** Processes that must be told to stop a run. */
    readonly cancellations: readonly { executionId: string; worker: string }[];
    readonly slotAgentIds: readonly string[];
    /** Runs of workflows of which a step ended whose agent stores no bodies. */
    readonly transientExecutionIds: readonly string[];
    /** What follows for runs of workflows. */
    readonly inSameTransaction: () => readonly Promise<unknown>[];
  },
): Promise<void> {
  const { cancellations, slotAgentIds, transientExecutionIds } = more;
  const brief = ended.filter((one) => !one.storeBodies && one.output !== null);
  await Promise.all([
    ended.length > 0 ? send(deleteRuns, [ended.map((one) => one.id)]) : [],
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
    ended.length > 0 ? send(updateExecutions, endValues(ended)) : [],
    brief.length > 0 ? send(insertTransientOutputs, [brief.map((one) => one.id)]) : [],
    ...more.inSameTransaction(),
    addStatistics(send, more.tallies),
    send({ name: 'commit', text: 'commit' }),
  ]);
}

const lockAgents: Statement = {
  name: 'finish-lock-agents',
  text: `select subject from limits where subject = any($1::uuid[]) order by subject for update`,
};

const lockQueue: Statement = {
  name: 'finish-lock-queue',
  text: `select id, agent_id, worker, attempt, failures, losses,
      spent_input_tokens, spent_output_tokens, spent_usd, spent_known,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
      (extract(epoch from started_at) * 1000)::float8 as started_ms
    from execution_queue where id = any($1::uuid[]) order by id for update`,
};

const deleteRuns: Statement = {
  name: 'finish-delete-runs',
  text: `delete from execution_queue where id = any($1::uuid[])`,
};

/**
 * Gives free slots of these agents to the runs that wait longest, under the lock of the agents. They are updated by their
 * keys: joined with those that were picked, of which PostgreSQL expects many, all that wait would be read for each slot.
 */
export const grantFreeSlots: Statement = {
  name: 'finish-hand-out-slots',
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

// However such a step ends, its run is to hold bodies no longer than it must. The run is locked already. This comes before
// the run ends, unless it did so when the step was stopped.
const markTransientWorkflowRuns: Statement = {
  name: 'finish-mark-brief-runs',
  text: `update workflow_runs set bodies = 'transient', input = case when status = 'processing' then input end
    where id = any($1::uuid[]) and bodies = 'stored'`,
};

const insertTransientOutputs: Statement = {
  name: 'finish-insert-brief-outputs',
  text: `insert into transient_outputs (execution_id, ended_at)
    select unnest($1::uuid[]), clock_timestamp()`,
};

// The variables had to stay until now, or no other process could have carried the run out.
const updateExecutions: Statement = {
  name: 'finish-update-executions',
  text: `update executions e set status = f.status, completed_at = to_timestamp(f.completed / 1000),
      started_at = to_timestamp(f.started / 1000), latency_ms = f.latency_ms, attempts = f.attempts,
      input_tokens = f.input_tokens, output_tokens = f.output_tokens, cost_usd = f.cost_usd,
      cost_known = f.cost_known, finish_reason = f.finish_reason, error_code = f.error_code, error = f.error,
      system_prompt = f.system_prompt, user_prompt = f.user_prompt, output = f.output,
      input_variables = case when f.stores_bodies then e.input_variables end,
      ip_address = case when f.stores_bodies then e.ip_address end,
      user_agent = case when f.stores_bodies then e.user_agent end,
      settings = null
    from unnest($1::uuid[], $2::execution_status[], $3::float8[], $4::float8[], $5::int[], $6::smallint[],
      $7::int[], $8::int[], $9::numeric[], $10::bool[], $11::text[], $12::text[], $13::text[], $14::text[],
      $15::text[], $16::text[], $17::bool[])
      as f (id, status, completed, started, latency_ms, attempts, input_tokens, output_tokens, cost_usd,
        cost_known, finish_reason, error_code, error, system_prompt, user_prompt, output, stores_bodies)
    where e.id = f.id and e.id = any($1::uuid[]) and e.id between $18::uuid and $19::uuid`,
};

function endValues(ended: readonly EndedExecution[]): Value[] {
  return [
    ended.map((one) => one.id),
    ended.map((one) => one.status),
    ended.map((one) => one.completedMs),
    ended.map((one) => one.startedMs),
    ended.map((one) => one.latencyMs),
    ended.map((one) => one.attempts),
    ended.map((one) => one.inputTokens),
    ended.map((one) => one.outputTokens),
    ended.map((one) => one.costUsd),
    ended.map((one) => one.costKnown),
    ended.map((one) => one.finishReason),
    ended.map((one) => one.errorCode),
    ended.map((one) => one.error),
    ended.map((one) => one.systemPrompt),
    ended.map((one) => one.userPrompt),
    ended.map((one) => one.output),
    ended.map((one) => one.storeBodies),
    ...idBounds(ended.map((one) => one.id)),
  ];
}
