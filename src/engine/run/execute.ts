import { attemptLimitMs, fallbackModel } from '../../core/agent/fallback.ts';
import type { ToolCall } from '../../core/agent/messages.ts';
import { lossesMax, renderedCharsMax } from '../../core/agent/model-settings.ts';
import type { Prompt, Template } from '../../core/agent/prompt.ts';
import { type ResponseFormat, readOutputJob } from '../../core/agent/response-format.ts';
import { messagesOf } from '../../core/agent/sent-prompt.ts';
import { withFileData } from '../../core/agent/stored-files.ts';
import { type ByteShares, bytesOf, type FreeBytes } from '../../core/byte-shares.ts';
import { type Compute, JobTooLarge } from '../../core/compute.ts';
import { attemptOf } from '../../core/execution/attempt.ts';
import { outOfTime } from '../../core/execution/out-of-time.ts';
import {
  type Ended,
  ended,
  failed,
  type Outcome,
  type Retry,
  retry,
} from '../../core/execution/outcome.ts';
import type { QueuedExecution, Spent } from '../../core/execution/queued-execution.ts';
import { type PromptPlan, planPrompt } from '../../core/execution/render-prompt.ts';
import { delayWithin, retryDelayMs } from '../../core/execution/retry-delay.ts';
import { CallFailure, type ExecutionErrorCode } from '../../core/failure.ts';
import { LruCache } from '../../core/lru-cache.ts';
import { collectResponse } from '../../core/model/model-events.ts';
import {
  type ModelCall,
  ModelDeferred,
  type ModelEvent,
  ModelFailure,
  type ModelPort,
  type ModelResponse,
  noDetails,
  unknownCost,
} from '../../core/model/model-port.ts';
import { storable, storableJson } from '../../core/storable-text.ts';
import type { ExecutedTool } from '../../core/tools/executed-tool.ts';
import { messageDigests } from '../complete/conversation-digests.ts';
import { type EarlierMessages, findProvided, withProvided } from '../complete/provided-messages.ts';
import type { LiveStreams } from '../stream/live-streams.ts';
import type { LoopRun, ToolLoopDeps } from '../tools/loop-run.ts';
import { ToolLoop } from '../tools/tool-loop.ts';
import { type CallPermit, keptUsd, type PermitDeps, permitCall } from './permit-call.ts';

/**
 * One attempt of an execution: render the prompt, call the model, decide what follows. Nothing is written here; the
 * worker writes the end or the release.
 *
 * Outcomes: `ended` (success, or a failure that is final), `retry` (with a failed attempt, which consumes one of
 * `maxAttempts`; without one, the execution waits for its provider: the circuit breaker is open, the concurrency limit is
 * reached, or the provider rejected the call before any work), `stopped` (the signal aborted it, and the worker decides).
 *
 * Invariants:
 * - Retries and waiting stay within `timeoutMs`, counted from the first start of work.
 * - A backoff never ends an execution: if it is longer than the time left, the execution calls before its deadline.
 * - With `maxAttempts: 1`, a call that may have done work is never sent again.
 * - A model that answers without a text, or without matching the schema, is called once more, not more often.
 * - A fallback to the next of the agent's models starts afresh: failures and rejections count for each model.
 * - After `lossesMax` lost workers the execution ends: it may be what kills them.
 * - A prompt is rendered, and its answer read, once there is room for them. Until then an attempt holds only its input, which
 *   its slot counts.
 */
export type AttemptOutcome = Outcome | StoppedAttempt;

export interface StoppedAttempt {
  readonly kind: 'stopped';
  /** The prompt if the model may have been called. */
  readonly sent: Prompt | null;
  /** What that call may have cost, under a limit of cost. */
  readonly keptUsd?: string;
}

export interface ExecuteDeps extends PermitDeps {
  readonly models: ModelPort;
  readonly compute: Compute;
  /** For prompts and answers. */
  readonly bytes: ByteShares;
  readonly template: (promptVersionId: string) => Promise<Template>;
  /** The messages of earlier turns as their providers sent them. */
  readonly earlierMessages?: EarlierMessages;
  /** For versions that execute tools. */
  readonly toolLoop?: ToolLoopDeps;
  /** Where attempts that are read as a stream emit what arrives. */
  readonly streams?: Pick<LiveStreams, 'open'>;
  /** Reports an error that is a defect of this program. */
  readonly onFault: (error: unknown, execution: QueuedExecution) => void;
  /** Reports the field that kept a provider's response from being read. */
  readonly onUnreadableField?: (field: string, execution: QueuedExecution) => void;
}

/** Executes one attempt. Throws database errors: they are not failures of the execution. */
export async function executeAttempt(
  deps: ExecuteDeps,
  execution: QueuedExecution,
  run: AttemptRun,
): Promise<AttemptOutcome> {
  const { signal } = run;
  if (signal.aborted) return { kind: 'stopped', sent: null };
  // Before rendering: rendering may be what kills the worker.
  if (execution.losses > lossesMax) {
    return failed('WORKER_LOST', lostMessage(execution), { counted: false });
  }
  const template = await deps.template(execution.promptVersionId);
  // Nothing was sent, so another attempt is allowed even with `maxAttempts: 1`.
  if (signal.aborted) return { kind: 'stopped', sent: null };
  const plan = planPrompt(template, execution);
  if (!plan) {
    const message = `The rendered prompt is longer than ${renderedCharsMax} characters.`;
    return failed('CONTEXT_LENGTH', message, { counted: false });
  }
  const { losses, settings } = execution;
  const waitedFrom = performance.now();
  const { executedTools } = template;
  const earlier = executedTools ? await earlierTurns(deps, execution, executedTools) : null;
  const chars = plan.chars + (earlier?.chars ?? 0);
  const prompt = await renderWithRoom(deps, execution, { ...plan, chars }, run);
  // Also if the room came in the same moment: nothing was sent.
  if (signal.aborted) return { kind: 'stopped', sent: null };
  if (!prompt) return outOfTime(execution, null);
  const loop = await earlier?.open(run);
  const isRepeated = settings.maxAttempts === 1 && losses > 0 && !loop?.hasOpenCalls;
  if (losses >= lossesMax || isRepeated) {
    return failed('WORKER_LOST', lostMessage(execution), { prompt, counted: false });
  }
  const format = settings.responseFormat ?? template.responseFormat ?? null;
  const deadline = waitedFrom + settings.timeoutMs - execution.elapsedMs;
  if (loop) return runLoop(deps, loop, { prompt, format, deadline }, run);
  const turn = { prompt, sent: prompt, format, deadline };
  const permit = await permitTurn(deps, execution, turn, run);
  return permit.kind === 'permitted'
    ? callModel(deps, execution, { ...turn, permit }, run)
    : permit;
}

/** Turns of the model and their calls, until an answer without calls. */
async function runLoop(
  deps: ExecuteDeps,
  loop: ToolLoop,
  given: Omit<Turn, 'sent'>,
  run: AttemptRun,
): Promise<AttemptOutcome> {
  const { prompt, deadline } = given;
  for (;;) {
    const called = await loop.finishCalls(deadline - performance.now());
    if (called) return called.kind === 'ended' ? { ...called, prompt } : called;
    if (run.signal.aborted) return { kind: 'stopped', sent: null };
    const turn = { ...given, sent: loop.promptOf(prompt), n: loop.turn };
    const permit = await permitTurn(deps, loop.execution, turn, run);
    if (permit.kind !== 'permitted') return permit;
    const outcome = await callModel(deps, loop.execution, { ...turn, permit }, run);
    if (outcome.kind !== 'ended' || outcome.toolCalls.length === 0) return outcome;
    const next = await loop.endTurn(outcome, keptUsd(outcome.cost, permit));
    if (next) return next;
  }
}

/** The finished turns of an execution that executes tools, which are read once there is room for them. */
async function earlierTurns(
  { toolLoop }: ExecuteDeps,
  execution: QueuedExecution,
  tools: readonly ExecutedTool[],
) {
  if (!toolLoop) throw new Error('This process executes no tools.');
  const { id, turns } = execution;
  return {
    chars: turns ? await toolLoop.reads.chars(id) : 0,
    async open(run: AttemptRun): Promise<ToolLoop> {
      const found = turns ? await toolLoop.reads.turns(id) : [];
      return new ToolLoop(toolLoop, run, { execution, tools, turns: found });
    },
  };
}

/** One call of the model. */
interface Turn {
  /** For the record. */
  readonly prompt: Prompt;
  /** The conversation so far. */
  readonly sent: Prompt;
  readonly format: ResponseFormat | null;
  /** Of the execution, on the clock of this process. */
  readonly deadline: number;
  /** Its number, if calls of tools may follow. */
  readonly n?: number;
}

/** Whether limits of cost and budgets permit a call. */
async function permitTurn(
  deps: ExecuteDeps,
  execution: QueuedExecution,
  { prompt, sent, format }: Turn,
  { signal }: AttemptRun,
): Promise<CallPermit | AttemptOutcome> {
  const permit = await permitCall(deps, execution, { prompt: sent, format });
  if (permit.kind === 'ended') return { ...permit, prompt };
  return signal.aborted ? { kind: 'stopped', sent: null } : permit;
}

/** The only place where a model is called. */
async function callModel(
  deps: ExecuteDeps,
  execution: QueuedExecution,
  { prompt, sent, format, deadline, n, permit }: Turn & { readonly permit: CallPermit },
  run: AttemptRun,
): Promise<AttemptOutcome> {
  const { signal, reservations } = run;
  const { settings } = execution;
  const startedAt = performance.now();
  const leftMs = deadline - startedAt;
  if (leftMs <= 0) return outOfTime(execution, prompt);
  const elapsedMs = settings.timeoutMs - leftMs;
  const emission = settings.stream
    ? emitEvents(deps, { ...execution, elapsedMs }, run.isOwned, n)
    : null;
  try {
    const call = modelCall(execution, sent, {
      format,
      maxTokens: permit.maxTokens,
      leftMs,
      signal,
    });
    const response = await collectResponse(deps.models, call, emission?.onEvent);
    const { text: output, toolCalls = [], details = noDetails, ...answer } = response;
    reservations.push(deps.bytes.add(bytesOf([output, toolCalls, details])));
    // Calls of tools come instead of an answer.
    const outputJson =
      format && toolCalls.length === 0
        ? await requireJson(deps.compute, { format, response, execution })
        : null;
    const timing = timingOf(startedAt, emission);
    // The calls of a loop are those of no caller.
    const messageDigest = n ? null : await digestOfAnswer(execution, prompt, response);
    const content = { output, outputJson, toolCalls, messageDigest, details, prompt };
    return ended({ status: 'success', ...answer, ...content, ...timing });
  } catch (error) {
    const isDeferred = error instanceof ModelDeferred;
    if (signal.aborted) return stopped(isDeferred ? null : prompt, permit);
    const timing = timingOf(startedAt, emission);
    const leftAfterMs = leftMs - timing.attemptMs;
    if (isDeferred) return deferredOutcome(execution, error, leftAfterMs);
    if (error instanceof ModelFailure && error.unreadableField) {
      deps.onUnreadableField?.(error.unreadableField, execution);
    }
    if (error instanceof ModelFailure) {
      return failureOutcome(execution, error, leftAfterMs, { prompt, permit, ...timing });
    }
    deps.onFault(error, execution);
    const { attemptMs } = timing;
    return failed('INTERNAL', 'Internal error.', { prompt, cost: unknownCost, attemptMs });
  } finally {
    emission?.close();
  }
}

/** The prompt, once there is room for it and for what earlier turns add to it. Null as `holdRoom`. */
async function renderWithRoom(
  deps: ExecuteDeps,
  execution: QueuedExecution,
  plan: PromptPlan,
  run: AttemptRun,
): Promise<Prompt | null> {
  const { earlierMessages } = deps;
  const waitedFrom = performance.now();
  const room = await holdRoom(deps, execution, plan.chars, run);
  if (!room) return null;
  let prompt: Prompt | null = plan.render();
  if (!earlierMessages || run.signal.aborted) return prompt;
  const found = await findProvided(earlierMessages, execution, prompt);
  if (found.chars === 0 || run.signal.aborted) return prompt;
  // Two that hold a part while they wait for more could wait for each other. So this one is rendered again.
  prompt = null;
  room();
  const elapsedMs = execution.elapsedMs + performance.now() - waitedFrom;
  const chars = plan.chars + found.chars;
  if (!(await holdRoom(deps, { ...execution, elapsedMs }, chars, run))) return null;
  return withProvided(earlierMessages, plan.render(), found);
}

/** By which the next turn finds the message of this answer; null if it has none, or it is not stored. */
async function digestOfAnswer(
  { workspaceId, storeBodies }: QueuedExecution,
  prompt: Prompt,
  { text, toolCalls = [], details }: ModelResponse,
): Promise<string | null> {
  if (!details?.message || toolCalls.length === 0 || !storeBodies) return null;
  const calls: readonly ToolCall[] = JSON.parse(storableJson(toolCalls));
  const answer = { role: 'assistant', content: storable(text), toolCalls: calls } as const;
  const digests = await messageDigests(workspaceId, [...messagesOf(prompt), answer]);
  return digests.at(-1)?.digest ?? null;
}

/** Holds the bytes of a call once there is room for them. Null at the deadline, or if the attempt is aborted. */
async function holdRoom(
  { bytes }: ExecuteDeps,
  execution: QueuedExecution,
  chars: number,
  { signal, reservations }: AttemptRun,
): Promise<FreeBytes | null> {
  const { workspaceId, settings, elapsedMs } = execution;
  const wanted = bytesOfCall(chars, execution);
  let room = bytes.tryHold(workspaceId, wanted);
  if (!room) {
    const leftMs = Math.max(0, Math.ceil(settings.timeoutMs - elapsedMs));
    const ended = AbortSignal.any([signal, AbortSignal.timeout(leftMs)]);
    room = await bytes.hold(workspaceId, wanted, ended);
  }
  if (room) reservations.push(room);
  return room;
}

/** The claim of an attempt. */
export interface AttemptRun extends LoopRun {
  /** Whether it still holds and is not aborted, as far as this process knows. */
  isOwned(): boolean;
  /** What the attempt holds until its outcome is written: the caller frees it. */
  readonly reservations: FreeBytes[];
}

/** The memory of a call: the prompt with its files, its request, and an answer that may be as long. */
function bytesOfCall(chars: number, { inputBytes }: QueuedExecution): number {
  return 4 * chars + inputBytes;
}

function modelCall(
  execution: QueuedExecution,
  prompt: Prompt,
  more: Pick<CallPermit, 'maxTokens'> & {
    readonly format: ResponseFormat | null;
    readonly leftMs: number;
    readonly signal: AbortSignal;
  },
): ModelCall {
  const { settings } = execution;
  const { messages } = prompt;
  const { format, maxTokens, leftMs, signal } = more;
  return {
    executionId: execution.id,
    workspaceId: execution.workspaceId,
    model: execution.model,
    setup: execution.setup,
    ...prompt,
    ...(messages && { messages: withFileData(messages, execution.fileData) }),
    user: prompt.user ?? '',
    temperature: execution.temperature,
    maxTokens,
    topP: settings.topP,
    ...(format && { responseFormat: format }),
    ...(settings.stream && { stream: true }),
    ...(execution.mismatch !== null && { correction: execution.mismatch }),
    timeoutMs: Math.ceil(attemptLimitMs(settings, execution.model, leftMs)),
    leftMs,
    called: execution.called,
    signal,
  };
}

/** Emits what an attempt that is read as a stream receives, and times its first text. */
function emitEvents(
  { streams }: ExecuteDeps,
  execution: QueuedExecution,
  isOwned: () => boolean,
  turn?: number,
) {
  const stream = streams?.open(execution, isOwned, turn);
  const startedAt = performance.now();
  let firstTextMs: number | null = null;
  return {
    onEvent(event: ModelEvent) {
      const elapsedMs = execution.elapsedMs + performance.now() - startedAt;
      if (event.type === 'text') firstTextMs ??= Math.round(elapsedMs);
      // Calls that the service executes are no calls for the reader.
      if (!turn || event.type !== 'toolCall') stream?.emit(event);
    },
    /** Since the first start of work; null if no text has arrived. */
    firstTextMs: () => firstTextMs,
    close: () => stream?.close(),
  };
}

function timingOf(startedAt: number, emission: ReturnType<typeof emitEvents> | null) {
  return {
    attemptMs: performance.now() - startedAt,
    firstTextMs: emission?.firstTextMs() ?? null,
  };
}

/** @throws {ModelFailure} if the output does not match */
async function requireJson(
  compute: Compute,
  answered: {
    readonly format: ResponseFormat;
    readonly response: ModelResponse;
    readonly execution: Pick<QueuedExecution, 'workspaceId'>;
  },
): Promise<string> {
  const { format, response } = answered;
  const { workspaceId } = answered.execution;
  const { text: output, usage, cost, finishReason, details = noDetails } = response;
  const schema = JSON.stringify(format.schema);
  const question = { workspaceId, schema, output, finishReason };
  const read = await compute.run(workspaceId, readOutputJob, question).catch((error: unknown) => {
    if (!(error instanceof JobTooLarge)) throw error;
    return { kind: 'mismatch', problem: 'checking it takes too much memory' } as const;
  });
  if (read.kind === 'json') return read.json;
  const message = `The output does not match its schema: ${read.problem}.`;
  throw new ModelFailure('SCHEMA_MISMATCH', message, { usage, cost, finishReason, details });
}

function deferredOutcome(
  execution: QueuedExecution,
  { afterMs, code, full }: ModelDeferred,
  leftMs: number,
): Retry {
  const unstarted = full && !execution.called;
  // At the deadline at the latest, where `outOfTime` ends it.
  const delayMs = unstarted
    ? afterMs
    : (delayWithin(leftMs, afterMs, Math.random()) ?? Math.max(0, leftMs));
  const fallback = full ? null : nextModel(execution, code, { waitMs: afterMs, leftMs });
  return retry({
    ...{ unstarted, waitCode: code, fallback },
    delayMs: fallback === null ? delayMs : 0,
  });
}

/** Null if the execution stays with its model. A wait until after the deadline counts as endless. */
function nextModel(
  { settings, model }: QueuedExecution,
  code: ExecutionErrorCode,
  { waitMs, leftMs }: { readonly waitMs: number; readonly leftMs: number },
): string | null {
  if (leftMs <= 0) return null;
  return fallbackModel(settings, model, { code, waitMs: waitMs < leftMs ? waitMs : Infinity });
}

function failureOutcome(
  execution: QueuedExecution,
  error: ModelFailure,
  leftMs: number,
  {
    permit,
    ...attempt
  }: Partial<Ended> & { readonly attemptMs: number; readonly permit: CallPermit },
): Outcome {
  const { failures, rejections, settings, model } = execution;
  const { code, rejected, usage, cost, finishReason, details } = error;
  const isRepeated =
    (code === 'EMPTY_OUTPUT' && execution.emptied) ||
    (code === 'SCHEMA_MISMATCH' && execution.mismatch !== null);
  const isRetryable = error.retryable && !isRepeated;
  const mismatch = code === 'SCHEMA_MISMATCH' ? storable(error.message) : null;
  const hasAttempts = failures + 1 < settings.maxAttempts;
  const calls = 1 + (rejected ? rejections : failures);
  const waitMs = retryDelayMs(calls, error.retryAfterMs, Math.random());
  const delayMs = delayWithin(leftMs, waitMs, Math.random());
  const latencyMs = Math.round(attempt.attemptMs);
  const failedAttempt = attemptOf({ model, errorCode: code, usage, cost, latencyMs });
  const counted = { spent: spentBy(error, permit), failed: failedAttempt, mismatch };
  // A timeout has used up the time of this model.
  const isSpent = rejected || code === 'MODEL_TIMEOUT' || !isRetryable || !hasAttempts;
  // What no wait resolves, such as a limit that is smaller than the request, is not waited for.
  const endlessMs = isRetryable ? waitMs : Number.POSITIVE_INFINITY;
  const fallback = isSpent ? nextModel(execution, code, { waitMs: endlessMs, leftMs }) : null;
  if (fallback !== null) return retry({ ...counted, fallback });
  if (delayMs !== null && isRetryable) {
    if (rejected) return retry({ rejected, delayMs, waitCode: code });
    if (hasAttempts) return retry({ ...counted, delayMs });
  }
  return failed(code, error.message, { ...attempt, usage, cost, finishReason, details });
}

/**
 * The end of an execution with `maxAttempts: 1` whose call was aborted. The process is alive, but nobody knows whether
 * the model was called.
 */
export function lostWorker(prompt: Prompt): Ended {
  const error = 'The worker had to abort the call of this execution.';
  return failed('WORKER_LOST', error, { prompt, cost: unknownCost });
}

function stopped(sent: Prompt | null, { boundUsd }: CallPermit): StoppedAttempt {
  return { kind: 'stopped', sent, ...(sent && boundUsd !== null && { keptUsd: boundUsd }) };
}

function spentBy({ usage, cost }: ModelFailure, permit: CallPermit): Spent {
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    costUsd: cost.usd,
    costKnown: cost.known,
    costSource: cost.source ?? null,
    priceId: cost.priceId ?? null,
    keptUsd: keptUsd(cost, permit),
  };
}

function lostMessage({ losses }: QueuedExecution): string {
  return `The execution has lost its worker ${losses} ${losses === 1 ? 'time' : 'times'}.`;
}

/** In characters. */
const cachedTemplatesMax = 33_554_432;

function templateChars({ system, user, ...rest }: Template): number {
  const chars = (system?.length ?? 0) + (user?.length ?? 0);
  const { messages, tools, executedTools, responseFormat } = rest;
  const others = [messages, tools, executedTools, responseFormat].filter((each) => each);
  return others.length === 0 ? chars : chars + JSON.stringify(others).length;
}

/** Caches templates of prompt versions, which never change. A referenced version always exists. */
export function templateCache(
  read: (promptVersionId: string) => Promise<Template | null>,
): (promptVersionId: string) => Promise<Template> {
  const cache = new LruCache<Template>(cachedTemplatesMax, templateChars);
  return async (id) => {
    const cached = cache.get(id);
    if (cached) return cached;
    const template = await read(id);
    if (!template) throw new CallFailure('NOT_FOUND', 'The prompt version does not exist.');
    cache.set(id, template);
    return template;
  };
}
