import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { Template } from '../../core/agent/prompt.ts';
import { addDecimals } from '../../core/decimal.ts';
import { type EndStatus, latencyMsMax } from '../../core/execution/execution.ts';
import type { AcceptedAs } from '../../core/execution/queued-execution.ts';
import { type ExecutionErrorCode, withoutProviderText } from '../../core/failure.ts';
import type { Tally } from '../../core/history/statistics.ts';
import { uuid7Time } from '../../core/id.ts';
import {
  type Cost,
  noCost,
  noUsage,
  type Usage,
  unknownCost,
} from '../../core/model/model-port.ts';
import { storable } from '../../core/storable-text.ts';
import type { Pipelines, Send } from '../../store/connection/pipeline.ts';
import type { LiveExecution } from '../../store/execution/executions.ts';
import {
  type EndedExecution,
  lockExecutions,
  type QueuedExecutionRow,
  writeEnds,
} from '../../store/execution/finish.ts';
import { type Stopping, writeProgress } from '../../store/workflow/workflow-progress.ts';
import { batcher, type Outcome } from '../admission/batcher.ts';
import { endAfterRetries, transactBatch } from '../admission/retry-transaction.ts';
import {
  type OnProgress,
  type ProgressDeps,
  planProgress,
  type WorkflowRunEvent,
} from '../workflow/progress.ts';

/**
 * The one way a run ends, for workers and for cancel alike: queue row gone, record written, statistics added, slot
 * handed on, in one transaction for all that end together. Whoever does not hold the fence any more changes nothing.
 */

export interface End {
  readonly id: string;
  /** The claim under which the worker speaks; null for a cancel, which needs none. */
  readonly fence: { readonly worker: string; readonly attempt: number } | null;
  /** The agent, where it hands out slots: it is locked first. */
  readonly slotAgentId: string | null;
  readonly status: Extract<EndStatus, 'success' | 'failed' | 'canceled'>;
  /** Whether the attempt that ends here called the model, or died before it could tell. */
  readonly counted: boolean;
  readonly usage: Usage;
  readonly cost: Cost;
  readonly finishReason: string | null;
  readonly errorCode: ExecutionErrorCode | null;
  readonly error: string | null;
  readonly systemPrompt: string | null;
  readonly userPrompt: string | null;
  readonly output: string | null;
  /** Where not, of the bodies only the output stays, for a while. */
  readonly storeBodies: boolean;
  readonly acceptedAs: AcceptedAs;
  /** The step of a workflow's run that goes on with this end. */
  readonly workflow: WorkflowStepOf | null;
}

/** `ended` is null where the run was not the caller's to end: already over, or in other hands. */
export interface EndResult {
  readonly ended: EndedExecution | null;
  /** The process that worked on a canceled run. */
  readonly worker: string | null;
}

export interface Finisher {
  finish(end: End): Promise<EndResult>;
  idle(): Promise<void>;
}

export interface FinisherDeps extends ProgressDeps {
  readonly pipelines: Pipelines;
  /** For ends that go alone. */
  readonly singlePipelines: Pipelines;
  /** Told of each run that ended, once that is committed. */
  readonly onEnded: (ended: EndedExecution) => void;
  /** Told when slots were handed to waiting runs. */
  readonly onQueued: () => void;
  /** Told how runs of workflows went on, once that is committed. */
  readonly onProgress: OnProgress;
  readonly onBatch?: (size: number) => void;
}

export function createFinisher(parts: FinisherDeps): Finisher {
  const { pipelines, singlePipelines } = parts;
  const alone = batcher<End, EndResult>({
    ...{ sizeMax: 1, inFlightMax: 1, weight: () => 0 },
    run: (ends) => transactBatch(ends, (some) => executeAttempt(parts, singlePipelines, some)),
  });
  const together = batcher<End, EndResult>({
    sizeMax: 500,
    inFlightMax: 2,
    // What a step has put out is written to its run as well, and most often into the next call.
    weight: ({ systemPrompt, userPrompt, output, workflow }) =>
      (systemPrompt?.length ?? 0) +
      (userPrompt?.length ?? 0) +
      (output?.length ?? 0) * (workflow ? 3 : 1),
    run: (ends) => transactBatch(ends, carry, goApart),
    ...(parts.onBatch && { onBatch: parts.onBatch }),
  });
  const carry = (ends: End[]) => executeAttempt(parts, pipelines, ends);

  /** Those of no workflow go first. No other waits for those of workflows: what their runs refer to may take long to read. */
  async function goApart(ends: End[]): Promise<Outcome<EndResult>[]> {
    const free = ends.filter(({ workflow }) => !workflow);
    const results = free.length > 0 ? await transactBatch(free, carry) : [];
    const next = results.values();
    return ends.map((end) => (end.workflow ? alone.add(end) : (next.next().value as EndResult)));
  }

  return {
    finish: together.add,
    async idle() {
      await together.idle();
      await alone.idle();
    },
  };
}

/** An end that goes alone takes its run with it where what follows cannot be written: its batch would go one by one each time. */
function executeAttempt(
  parts: FinisherDeps,
  pipelines: Pipelines,
  ends: End[],
): Promise<EndResult[]> {
  const carried = (unwritable: Error | null) =>
    pipelines.use((send) => transact(parts, send, { ends, unwritable }));
  return ends.length === 1 && ends[0]?.workflow ? endAfterRetries(carried) : carried(null);
}

async function transact(
  parts: FinisherDeps,
  send: Send,
  { ends, unwritable }: { readonly ends: readonly End[]; readonly unwritable: Error | null },
): Promise<EndResult[]> {
  const slotAgentIds = [...new Set(ends.flatMap((end) => end.slotAgentId ?? []))];
  const ids = ends.map((end) => end.id);
  const ofSteps = ends.flatMap((end) => end.workflow ?? []);
  const locked = await lockExecutions(send, ids, { slotAgentIds, steps: ofSteps });
  const rows = new Map(locked.rows.map((row) => [row.id, row]));
  const events: WorkflowRunEvent[] = [];
  const tallies: Tally[] = [];
  const cancellations: { executionId: string; worker: string }[] = [];
  const transientExecutionIds = new Set<string>();
  const results = ends.map((end): EndResult => {
    const row = rows.get(end.id);
    if (!row || !holds(end, row)) return { ended: null, worker: null };
    rows.delete(end.id);
    const ended = endedExecution(end, row);
    tallies.push(tally(ended, end, row));
    if (end.workflow) events.push(eventOf(end.workflow, ended));
    if (end.workflow && !end.storeBodies) transientExecutionIds.add(end.workflow.runId);
    if (end.fence === null && row.worker !== null) {
      cancellations.push({ executionId: end.id, worker: row.worker });
    }
    return { ended, worker: row.worker };
  });
  const ended = results.flatMap((result) => result.ended ?? []);
  const progress =
    events.length > 0 &&
    (await planProgress(
      parts,
      send,
      { runs: locked.workflows, steps: locked.steps, together: ends.length > 1, unwritable },
      events,
    ));
  let stopping: Promise<Stopping[]> = Promise.resolve([]);
  const inSameTransaction = () => {
    if (progress) stopping = writeProgress(send, progress.writes);
    return [stopping];
  };
  const more = {
    tallies,
    cancellations,
    slotAgentIds,
    transientExecutionIds: [...transientExecutionIds],
    inSameTransaction,
  };
  await writeEnds(send, ended, more);
  for (const one of ended) parts.onEnded(one);
  if (progress) progress.committed();
  if (progress) parts.onProgress({ ...progress, stopping: await stopping });
  if (slotAgentIds.length > 0) parts.onQueued();
  return results;
}

function eventOf(step: WorkflowStepOf, ended: EndedExecution): WorkflowRunEvent {
  const { status, output, errorCode, error } = ended;
  return {
    ...step,
    executionId: ended.id,
    outcome:
      status === 'success'
        ? { kind: 'success', text: output ?? '' }
        : // Its words stay with the execution, and go with its bodies: those of a run of many steps could not all go at once.
          {
            kind: 'failed',
            code: errorCode ?? 'INTERNAL',
            error: withoutProviderText(error ?? ''),
          },
  };
}

function holds(end: End, row: QueuedExecutionRow): boolean {
  return (
    end.fence === null || (row.worker === end.fence.worker && row.attempt === end.fence.attempt)
  );
}

function endedExecution(end: End, row: QueuedExecutionRow): EndedExecution {
  const tookMs = row.started_ms === null ? 0 : Math.round(row.now_ms - row.started_ms);
  // A machine may have been off for a month meanwhile.
  const latencyMs = Math.min(Math.max(0, tookMs), latencyMsMax);
  // A call that is cut off by a cancel does not say what it used.
  const cost = end.status === 'canceled' && row.worker !== null ? unknownCost : end.cost;
  return {
    id: end.id,
    agentId: row.agent_id,
    status: end.status,
    completedMs: row.now_ms,
    startedMs: row.started_ms,
    latencyMs,
    attempts: row.failures + row.losses + (end.counted && row.worker !== null ? 1 : 0),
    inputTokens: row.spent_input_tokens + end.usage.inputTokens,
    outputTokens: row.spent_output_tokens + end.usage.outputTokens,
    costUsd: addDecimals(row.spent_usd, cost.usd),
    costKnown: row.spent_known && cost.known,
    finishReason: end.finishReason,
    errorCode: end.errorCode,
    error: end.error === null ? null : storable(end.error),
    systemPrompt: end.systemPrompt,
    userPrompt: end.userPrompt,
    output: end.output === null ? null : storable(end.output),
    storeBodies: end.storeBodies,
  };
}

function tally(ended: EndedExecution, { acceptedAs }: End, row: QueuedExecutionRow): Tally {
  return {
    agentId: row.agent_id,
    executedAtMs: uuid7Time(ended.id),
    status: ended.status,
    source: acceptedAs.source,
    promptVersionId: acceptedAs.promptVersionId,
    model: acceptedAs.model,
    apiKeyId: acceptedAs.apiKeyId,
    errorCode: ended.errorCode,
    recorded: true,
    inputTokens: ended.inputTokens,
    outputTokens: ended.outputTokens,
    costUsd: ended.costUsd,
    costKnown: ended.costKnown,
    latencyMs: row.started_ms === null ? null : ended.latencyMs,
  };
}

/** The end of a run that is canceled: nothing is known of what it used. */
export function canceledEnd(id: string, run: LiveExecution, prompt: Template | null): End {
  return {
    id,
    fence: null,
    slotAgentId: run.slotAgentId,
    workflow: run.workflow,
    acceptedAs: run,
    storeBodies: run.storeBodies,
    status: 'canceled',
    counted: true,
    usage: noUsage,
    cost: noCost,
    finishReason: null,
    errorCode: 'CANCELED',
    error: 'The execution was canceled.',
    systemPrompt: prompt?.system ?? null,
    userPrompt: prompt?.user ?? null,
    output: null,
  };
}
