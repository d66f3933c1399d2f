import { recordedContent, textOf } from '../../core/agent/content.ts';
import type { Message } from '../../core/agent/messages.ts';
import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { Prompt } from '../../core/agent/prompt.ts';
import { providerMessageCharsMax } from '../../core/agent/provider-message.ts';
import { withSentTexts } from '../../core/agent/sent-prompt.ts';
import { bytesOf } from '../../core/byte-shares.ts';
import { addDecimals, excess } from '../../core/decimal.ts';
import type { NewEvent } from '../../core/event/event.ts';
import { executionEvent } from '../../core/event/execution-event.ts';
import { type Attempt, attemptOf } from '../../core/execution/attempt.ts';
import type { EndedExecution } from '../../core/execution/ended-execution.ts';
import { latencyMsMax } from '../../core/execution/execution.ts';
import { type Ended, ended } from '../../core/execution/outcome.ts';
import {
  type AcceptedAs,
  type Claim,
  type LiveExecution,
  type QueuedExecution,
  tokenSumMax,
} from '../../core/execution/queued-execution.ts';
import { withoutProviderText } from '../../core/failure.ts';
import type { Tally } from '../../core/history/statistics.ts';
import { uuid7Time } from '../../core/id.ts';
import {
  type AnswerDetails,
  type Cost,
  type CostSource,
  unknownCost,
} from '../../core/model/model-port.ts';
import { storable, storableJson } from '../../core/storable-text.ts';
import type { Notifications } from '../../db/notifications.ts';
import type { Pipelines, Send } from '../../db/pipeline.ts';
import { commit } from '../../db/statements.ts';
import { planLineEnds } from '../advance/end-lines.ts';
import {
  type ProgressDeps,
  type Progressed,
  planProgress,
  type WorkflowRunEvent,
} from '../advance/plan-progress.ts';
import { noAnswer, type PartialAnswer } from '../stream/partial-answer.ts';
import { batcher, lanes, type Outcome } from '../transaction/batcher.ts';
import { endAfterRetries, transactBatch } from '../transaction/retry-transaction.ts';
import { type Completion, writeCompletion } from './completion.ts';
import { lockExecutions, type QueuedExecutionRow } from './lock-executions.ts';
import type { SettledCall } from './settlements.ts';

/**
 * Ends executions: success, failure, cancel, deadline and lost worker all go through this module.
 *
 * One batch is one transaction. It locks agents with slots, workflow runs and queue rows in that order, then moves the queue
 * rows to the history, grants freed slots, advances the workflow runs, adds statistics and commits (`completion.ts` of the
 * store).
 *
 * Invariants:
 * - The queue row is the fence. A worker names `(worker, attempt)`; if the row is gone or claimed again, its end changes
 *   nothing and `ended` is null. A cancel has no fence and wins against a worker that has not written yet.
 * - An execution ends once, and its workflow run advances in the same transaction.
 * - What follows an end in other modules and processes is published after the commit. A crash may lose it: polls and sweeps find
 *   what was missed.
 *
 * Failure cases: if a batch fails because of one end, ends without a workflow share a transaction and each workflow step
 * gets its own, so that long values of workflow runs delay nobody else. If the follow-up of a step cannot be stored, the
 * workflow run fails and the execution still ends.
 */

export interface End {
  readonly execution: LiveExecution;
  /** The claim of the worker; null for a cancel, which needs none. */
  readonly fence: Claim | null;
  readonly outcome: Ended;
}

/** The end of a claimed execution. */
export function claimedEnd(execution: QueuedExecution, outcome: Ended): End {
  const { storeBodies, mismatch: correction } = execution;
  const { prompt, error } = outcome;
  const recorded = storeBodies
    ? { prompt }
    : { prompt: null, error: error && withoutProviderText(error) };
  return { execution, fence: execution, outcome: { ...outcome, ...recorded, correction } };
}

/** The end of a canceled execution, with the usage that its call had reported. */
export function canceledEnd(
  execution: LiveExecution,
  prompt: Prompt | null,
  { text, usage }: PartialAnswer = noAnswer,
): End {
  const outcome = ended({
    ...{ status: 'canceled', errorCode: 'CANCELED', error: 'The execution was canceled.' },
    ...{ prompt, usage, partialText: text || null },
  });
  return { execution, fence: null, outcome };
}

/** `ended` is null if the execution has already ended or belongs to another worker. */
export interface EndResult {
  readonly ended: EndedExecution | null;
}

export interface Finisher {
  finish(end: End): Promise<EndResult>;
  idle(): Promise<void>;
}

export interface FinisherDeps extends ProgressDeps {
  readonly pipelines: Pipelines;
  /** For transactions with a single end. */
  readonly singlePipelines: Pipelines;
  readonly notifications: Pick<Notifications, 'publish'>;
  /** Called after the commit, like `progressed`. */
  readonly onEnded: (executions: readonly EndedExecution[]) => void;
  readonly progressed: Progressed;
  readonly onBatch?: (size: number) => void;
}

const batchMax = 500;
const batchesInFlightMax = 2;
/** The output of a step is also written to its workflow run and, usually, to the next call. */
const stepOutputCopies = 3;

export function createFinisher(deps: FinisherDeps): Finisher {
  const { pipelines, singlePipelines } = deps;
  const single = batcher<End, EndResult>({
    ...{ sizeMax: 1, inFlightMax: 1, weight: () => 0 },
    run: (ends) => transactBatch(ends, (some) => endBatch(deps, singlePipelines, some)),
  });
  const transactEnds = (ends: End[]) => endBatch(deps, pipelines, ends);
  const batched = lanes<End, EndResult>({
    sizeMax: batchMax,
    inFlightMax: batchesInFlightMax,
    weight: ({ execution, outcome: { prompt, output, outputJson, partialText, details } }) =>
      promptChars(prompt) +
      (details.reasoningText?.length ?? 0) +
      messageChars(details) +
      (outputJson?.length ?? 0) +
      (partialText?.length ?? 0) +
      (output?.length ?? 0) * (execution.workflow ? stepOutputCopies : 1),
    run: (ends) => transactBatch(ends, transactEnds, isolateSteps),
    ...(deps.onBatch && { onBatch: deps.onBatch }),
  });

  /** Ends without a workflow go first. Nothing waits for workflow steps: their values may take long to read. */
  async function isolateSteps(ends: End[]): Promise<Outcome<EndResult>[]> {
    const plain = ends.filter(({ execution }) => !execution.workflow);
    const results = plain.length > 0 ? await transactBatch(plain, transactEnds) : [];
    const next = results.values();
    return ends.map((end) =>
      end.execution.workflow ? single.add(end) : (next.next().value as EndResult),
    );
  }

  return {
    finish: batched.add,
    async idle() {
      await batched.idle();
      await single.idle();
    },
  };
}

/** A single step whose follow-up cannot be stored fails its workflow run. In a batch, the ends would be isolated first. */
function endBatch(deps: FinisherDeps, pipelines: Pipelines, ends: End[]): Promise<EndResult[]> {
  const transaction = (unwritable: Error | null) =>
    pipelines.use((send) => transact(deps, send, { ends, unwritable }));
  return ends.length === 1 && ends[0]?.execution.workflow
    ? endAfterRetries(transaction)
    : transaction(null);
}

function messageChars({ message }: AnswerDetails): number {
  return bytesOf(message) / 2;
}

/** Messages contain the system and user prompt again. */
function promptChars(prompt: Prompt | null): number {
  const { system, user, messages = [], tools } = prompt ?? {};
  const lists = messages.reduce((chars, { content }) => chars + textOf(content).length, 0);
  return (system?.length ?? 0) + (user?.length ?? 0) + lists + (tools ? toolsChars : 0);
}

/** A rough size: only how many ends share a transaction depends on it. */
const toolsChars = 10_000;

interface EndsToWrite extends Completion {
  readonly results: readonly EndResult[];
  readonly stepEnds: readonly WorkflowRunEvent[];
  readonly ended: readonly EndedExecution[];
  readonly cancellations: readonly { executionId: string; worker: string }[];
  readonly events: readonly NewEvent[];
}

async function transact(
  deps: FinisherDeps,
  send: Send,
  { ends, unwritable }: { readonly ends: readonly End[]; readonly unwritable: Error | null },
): Promise<EndResult[]> {
  const executions = ends.map(({ execution }) => execution);
  const slotAgentIds = [...new Set(executions.flatMap((one) => one.slotAgentId ?? []))];
  const ids = executions.map(({ id }) => id);
  const endedSteps = executions.flatMap(({ workflow }) => workflow ?? []);
  const batchIds = [...new Set(executions.flatMap(({ batchLine }) => batchLine?.batchId ?? []))];
  const locked = await lockExecutions(send, ids, { slotAgentIds, steps: endedSteps, batchIds });
  const { results, stepEnds, ...completion } = planEnds(ends, locked.rows);
  const lineEnds = planLineEnds(executions, completion.ended, locked.batches);
  const { workflows: runs, steps } = locked;
  const plan =
    stepEnds.length > 0
      ? await planProgress(
          deps,
          send,
          { runs, steps, shared: ends.length > 1, unwritable },
          stepEnds,
        )
      : null;
  const progress = plan?.writes;
  const [{ stopping, eventsQueued }] = await Promise.all([
    writeCompletion(send, {
      ...completion,
      ...{ slotAgentIds, progress, lines: lineEnds?.changes ?? null },
      events: [...completion.events, ...(lineEnds?.events ?? [])],
    }),
    send(commit),
  ]);
  announce(deps, { ...completion, slotsFreed: slotAgentIds.length > 0, eventsQueued });
  if (plan) deps.progressed({ ...plan.progress, stopping });
  return [...results];
}

function announce(
  { notifications: { publish }, onEnded }: FinisherDeps,
  {
    ended,
    cancellations,
    slotsFreed,
    eventsQueued,
  }: Pick<EndsToWrite, 'ended' | 'cancellations'> & {
    readonly slotsFreed: boolean;
    readonly eventsQueued: boolean;
  },
): void {
  const endedIds = ended.map(({ id }) => id);
  publish('cueline_execution_ended', endedIds);
  // They were claimed: their workers must abort the calls.
  const canceledIds = cancellations.map(({ executionId }) => executionId);
  publish('cueline_execution_canceled', canceledIds);
  // Executions that waited for a slot of their agent may be ready now.
  if (slotsFreed) publish('cueline_execution_queued');
  if (eventsQueued) publish('cueline_event_queued');
  onEnded(ended);
}

/** Decides which ends hold their fence, and what must be written for them. */
function planEnds(ends: readonly End[], locked: readonly QueuedExecutionRow[]): EndsToWrite {
  const rows = new Map(locked.map((row) => [row.id, row]));
  const stepEnds: WorkflowRunEvent[] = [];
  const events: NewEvent[] = [];
  const tallies: Tally[] = [];
  const cancellations: { executionId: string; worker: string }[] = [];
  const settled: SettledCall[] = [];
  const transientRunIds = new Set<string>();
  const results = ends.map((end): EndResult => {
    const { execution } = end;
    const { id, workflow } = execution;
    const row = rows.get(id);
    if (!row || !holdsFence(end, row)) return { ended: null };
    rows.delete(id);
    const ended = endedExecution(end, row);
    settled.push(...settlementOf(end, row));
    tallies.push(tally(ended, execution, row));
    if (workflow) stepEnds.push(eventOf(workflow, ended));
    if (row.reportingWorkspace) {
      const labels = row.erased ? null : execution.labels;
      events.push(outboundEvent(row.reportingWorkspace, { ...execution, labels }, ended));
    }
    if (workflow && !execution.storeBodies) transientRunIds.add(workflow.runId);
    if (end.fence === null && row.worker !== null) {
      cancellations.push({ executionId: id, worker: row.worker });
    }
    return { ended };
  });
  return {
    ...{ results, stepEnds, events, tallies, cancellations, settled },
    ended: results.flatMap((result) => result.ended ?? []),
    transientRunIds: [...transientRunIds],
  };
}

function outboundEvent(
  workspaceId: string,
  { source, labels }: AcceptedAs,
  ended: EndedExecution,
): NewEvent {
  const { id, agentId, status, errorCode, costUsd, completedMs: atMs } = ended;
  const tokensUsed = ended.inputTokens + ended.outputTokens;
  return executionEvent({
    ...{ id, workspaceId, agentId, source, status, errorCode, tokensUsed, costUsd, labels, atMs },
  });
}

function eventOf(step: WorkflowStepOf, ended: EndedExecution): WorkflowRunEvent {
  const { status, output, outputJson, errorCode, error } = ended;
  return {
    ...step,
    executionId: ended.id,
    outcome:
      status === 'success'
        ? { kind: 'success', text: output ?? '', json: outputJson }
        : // Quoted text stays with the execution and is removed with its bodies.
          {
            kind: 'failed',
            code: errorCode ?? 'INTERNAL',
            error: withoutProviderText(error ?? ''),
          },
  };
}

function holdsFence(end: End, row: QueuedExecutionRow): boolean {
  return (
    end.fence === null || (row.worker === end.fence.worker && row.attempt === end.fence.attempt)
  );
}

function endedExecution(
  { execution: { id, storeBodies }, outcome }: End,
  row: QueuedExecutionRow,
): EndedExecution {
  const { status, usage, finishReason, settingsNotApplied, firstTextMs, errorCode } = outcome;
  const tookMs = row.startedMs === null ? 0 : Math.round(row.nowMs - row.startedMs);
  // The machine may have been off for a month.
  const latencyMs = Math.min(Math.max(0, tookMs), latencyMsMax);
  const prompt = sentPrompt(outcome);
  const cost = ownCost(outcome, row);
  return {
    ...{ id, agentId: row.agentId, status, storeBodies, messageDigest: outcome.messageDigest },
    completedMs: row.nowMs,
    startedMs: row.startedMs,
    latencyMs,
    model: row.model,
    attempts: row.earlierAttempts + row.failures + row.losses + Number(isAttempt(outcome, row)),
    ...turnsOf(outcome, row, cost),
    attemptList: attemptListOf(outcome, row, cost),
    lastClaim: row.attempt || null,
    firstTextMs: firstTextMs === null ? null : Math.min(firstTextMs, latencyMs),
    inputTokens: addTokens(row.spentInputTokens, usage.inputTokens),
    outputTokens: addTokens(row.spentOutputTokens, usage.outputTokens),
    costUsd: addDecimals(row.spentUsd, cost.usd),
    costKnown: row.spentKnown && cost.known,
    costSource: costSourceOf(cost, row),
    priceId: priceIdOf(cost, row),
    ...budgetFigures(cost, row),
    ...{ finishReason, errorCode },
    settingsNotApplied: settingsNotApplied.length > 0 ? settingsNotApplied : null,
    error: outcome.error === null ? null : storable(outcome.error),
    systemPrompt: prompt?.system ?? null,
    userPrompt: prompt?.user ?? null,
    request: requestOf(prompt),
    output: outcome.output === null ? null : storable(outcome.output),
    outputJson: outcome.outputJson,
    partialText: outcome.partialText === null ? null : storable(outcome.partialText),
    toolCalls: outcome.toolCalls.length === 0 ? null : storableJson(outcome.toolCalls),
    ...storableDetails(outcome, storeBodies),
  };
}

/** An aborted call does not report its usage. */
function ownCost({ status, cost }: Ended, row: QueuedExecutionRow): Cost {
  return status === 'canceled' && row.worker !== null ? unknownCost : cost;
}

/** What the end settles: nothing without a reservation, as of a retry that has not reserved yet. */
function settlementOf({ outcome }: End, row: QueuedExecutionRow): SettledCall[] {
  const { id: executionId, attempt: call, reservations } = row;
  if (!reservations || reservations.length === 0) return [];
  const cost = ownCost(outcome, row);
  const isSent = isAttempt(outcome, row) || !cost.known;
  return [{ executionId, call, reservations, cost, isSent }];
}

function budgetFigures(cost: Cost, { reservations, reservedUsd, overrunUsd }: QueuedExecutionRow) {
  if (reservedUsd === null) return { reservedUsd, overrunUsd };
  const bound = reservations?.[0]?.usd;
  const beyond = bound === undefined || !cost.known ? '0' : excess(cost.usd, bound);
  return {
    reservedUsd,
    overrunUsd: beyond === '0' ? (overrunUsd ?? '0') : addDecimals(overrunUsd ?? '0', beyond),
  };
}

function addTokens(spent: number, used: number): number {
  return Math.min(spent + used, tokenSumMax);
}

/** The prompt as the last call sent it. */
function sentPrompt({ prompt, details, correction, counted }: Ended): Prompt | null {
  return prompt && withSentTexts(prompt, details.instruction ?? null, counted ? correction : null);
}

/** What was sent beside the system and user prompt, as JSON; null for the short form alone. */
function requestOf(prompt: Prompt | null): string | null {
  const { messages, tools, toolChoice, settings } = prompt ?? {};
  if (!messages && !tools && !settings) return null;
  const recorded = messages?.map(recordedMessage);
  return JSON.stringify({ messages: recorded, tools, toolChoice, settings });
}

/** Without reasoning, which is of another execution. What the caller sent of it is in the variables. */
function recordedMessage(message: Message) {
  const content = recordedContent(message.content);
  if (message.role !== 'assistant') return { ...message, content };
  const { reasoning: _, provided: __, toolCalls, ...shown } = message;
  const calls = toolCalls?.map(({ extraContent: ___, ...call }) => call);
  return { ...shown, content, ...(calls && { toolCalls: calls }) };
}

/** Whether the end itself is the end of an attempt. */
function isAttempt({ counted }: Ended, row: QueuedExecutionRow): boolean {
  return counted && row.worker !== null;
}

/** What the loop of a version that executes tools has made: its last turn is the answer that ends it. */
function turnsOf(outcome: Ended, row: QueuedExecutionRow, cost: Cost) {
  const { turns, toolCallsMade } = row;
  if (turns === null) return { turns, toolCallsMade, lastTurn: null };
  // A turn that reaches a limit is finished and paid for, although none of its calls are made.
  const isTurn = outcome.status === 'success' || outcome.errorCode === 'TOOL_LIMIT';
  return {
    turns: turns + Number(isTurn),
    toolCallsMade: toolCallsMade ?? 0,
    lastTurn: isTurn && turns > 0 ? ownAttempt(outcome, row, cost) : null,
  };
}

/** Null if there was one claim and one turn: the record itself describes the only attempt. */
function attemptListOf(outcome: Ended, row: QueuedExecutionRow, cost: Cost): Attempt[] | null {
  if (row.attempt <= 1) return null;
  return [
    ...(row.attemptList ?? []),
    ...(isAttempt(outcome, row) ? [ownAttempt(outcome, row, cost)] : []),
  ];
}

function ownAttempt(
  { usage, errorCode, attemptMs }: Ended,
  row: QueuedExecutionRow,
  cost: Cost,
): Attempt {
  const { model } = row;
  const latencyMs = attemptMs === null ? null : Math.round(attemptMs);
  return attemptOf({ model, errorCode, usage, cost, latencyMs });
}

/** Null if nothing was called, or nothing charged. */
function costSourceOf(cost: Cost, row: QueuedExecutionRow): CostSource | null {
  return cost.source ?? row.spentSource ?? (row.spentKnown && cost.known ? null : 'unknown');
}

/** The price of what `costSourceOf` names: an earlier version changes the source of what is spent, and not its price. */
function priceIdOf(cost: Cost, row: QueuedExecutionRow): number | null {
  if (cost.source) return cost.priceId ?? null;
  return row.spentSource === 'workspace' ? row.spentPriceId : null;
}

function storableDetails({ details }: Ended, storeBodies: boolean) {
  const { reasoningText, refusalText, message, ...others } = details;
  const isKept = storeBodies && messageChars(details) <= providerMessageCharsMax;
  return {
    ...others,
    assistantMessage: isKept && message ? storableJson(message) : null,
    reasoningText: reasoningText === null || !storeBodies ? null : storable(reasoningText),
    refusalText: refusalText === null ? null : storable(refusalText),
  };
}

const noLabels = { user: null, session: null, tags: null, metadata: null };

function tally(ended: EndedExecution, acceptedAs: AcceptedAs, row: QueuedExecutionRow): Tally {
  return {
    agentId: row.agentId,
    executedAtMs: uuid7Time(ended.id),
    status: ended.status,
    source: acceptedAs.source,
    promptVersionId: acceptedAs.promptVersionId,
    model: ended.model,
    apiKeyId: acceptedAs.apiKeyId,
    errorCode: ended.errorCode,
    labels: row.erased ? { ...noLabels, tags: row.tags } : acceptedAs.labels,
    recorded: true,
    inputTokens: ended.inputTokens,
    outputTokens: ended.outputTokens,
    costUsd: ended.costUsd,
    costKnown: ended.costKnown,
    latencyMs: row.startedMs === null ? null : ended.latencyMs,
  };
}
