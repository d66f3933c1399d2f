import { lossesMax, renderedCharsMax } from '../../core/agent/model-settings.ts';
import type { Template } from '../../core/agent/prompt.ts';
import { renderPrompt } from '../../core/agent/render-prompt.ts';
import type { QueuedExecution, Spent } from '../../core/execution/queued-execution.ts';
import { retryDelayMs } from '../../core/execution/retry-delay.ts';
import { CallFailure, type ExecutionErrorCode, withoutProviderText } from '../../core/failure.ts';
import {
  type Cost,
  ModelDeferred,
  ModelFailure,
  type ModelPort,
  noCost,
  noUsage,
  type Usage,
  unknownCost,
} from '../../core/model/model-port.ts';
import type { End } from './finish.ts';

/** What came of one attempt. */
export type Attempt =
  | { readonly kind: 'end'; readonly end: End }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly spent: Spent }
  /**
   * The model was not called, since its provider is left alone or full: nothing is charged. With `unstarted` not even
   * time, as for a run that has found no slot.
   */
  | { readonly kind: 'deferred'; readonly delayMs: number; readonly unstarted: boolean }
  /** The signal stopped it, and whoever gave it knows what is to be done: with what was sent to the model, or before. */
  | { readonly kind: 'stopped'; readonly sent: Template | null };

export interface ExecuteDeps {
  readonly models: ModelPort;
  readonly template: (promptVersionId: string) => Promise<Template>;
  readonly onFault: (error: unknown, run: QueuedExecution) => void;
}

/**
 * Carries out one attempt of a run: render, call the model, say what came of it. Nothing is written here.
 * A database error is thrown: it says nothing about the run.
 */
export async function executeAttempt(
  parts: ExecuteDeps,
  run: QueuedExecution,
  signal: AbortSignal,
): Promise<Attempt> {
  const { settings } = run;
  if (signal.aborted) return { kind: 'stopped', sent: null };
  // To render it may be what kills its processes.
  if (run.losses > lossesMax)
    return failed(run, 'WORKER_LOST', lostMessage(run), { counted: false });
  const template = await parts.template(run.promptVersionId);
  // Stopped meanwhile: it has not been called, and may be begun anew even where that is allowed only once.
  if (signal.aborted) return { kind: 'stopped', sent: null };
  const prompt = renderPrompt(template, run);
  if (!prompt) {
    const message = `The renderPrompt prompt is longer than ${renderedCharsMax} characters.`;
    return failed(run, 'CONTEXT_LENGTH', message, { counted: false });
  }
  if (run.losses >= lossesMax || (settings.maxAttempts === 1 && run.losses > 0)) {
    return failed(run, 'WORKER_LOST', lostMessage(run), { prompt, counted: false });
  }
  const leftMs = settings.timeoutMs - run.elapsedMs;
  if (leftMs <= 0) {
    return failed(run, 'MODEL_TIMEOUT', timeoutMessage(run), { prompt, counted: false });
  }
  const begun = performance.now();
  try {
    const answer = await parts.models.call({
      executionId: run.id,
      workspaceId: run.workspaceId,
      model: run.model,
      setup: run.setup,
      system: prompt.system,
      user: prompt.user,
      temperature: run.temperature,
      maxTokens: settings.maxTokens,
      topP: settings.topP,
      timeoutMs: Math.ceil(leftMs),
      called: run.called,
      signal,
    });
    const { text: output, usage, cost, finishReason } = answer;
    return {
      kind: 'end',
      end: { ...unended(run, prompt), status: 'success', output, usage, cost, finishReason },
    };
  } catch (error) {
    const deferred = error instanceof ModelDeferred;
    if (signal.aborted) return { kind: 'stopped', sent: deferred ? null : prompt };
    const endsMs = run.elapsedMs + (performance.now() - begun);
    if (deferred) {
      const { afterMs: delayMs, code } = error;
      const unstarted = error.full && !run.called;
      if (unstarted || endsMs + delayMs < settings.timeoutMs)
        return { kind: 'deferred', delayMs, unstarted };
      return failed(run, code, code === 'MODEL_TIMEOUT' ? timeoutMessage(run) : leftAlone, {
        prompt,
        counted: false,
      });
    }
    if (!(error instanceof ModelFailure)) {
      parts.onFault(error, run);
      return failed(run, 'INTERNAL', 'Internal error.', { prompt, cost: unknownCost });
    }
    const delayMs = retryDelayMs(run.failures + 1, error.retryAfterMs, Math.random());
    const inTime = endsMs + delayMs < settings.timeoutMs;
    if (error.retryable && run.failures + 1 < settings.maxAttempts && inTime)
      return { kind: 'retry', delayMs, spent: spentBy(error) };
    return failed(run, error.code, error.message, { prompt, usage: error.usage, cost: error.cost });
  }
}

/** What the provider said it said of other runs: nothing of that may stand in this one's record. */
const leftAlone =
  'The provider has failed and is left alone for a time that is longer than what the run has left.';

/** What every end of this attempt says; how it ended is put over it. */
function unended(run: QueuedExecution, prompt: Template | undefined): Omit<End, 'status'> {
  const kept = storeBodies(run) ? prompt : undefined;
  return {
    acceptedAs: run,
    storeBodies: storeBodies(run),
    id: run.id,
    fence: { worker: run.worker, attempt: run.attempt },
    slotAgentId: run.settings.maxConcurrency === null ? null : run.agentId,
    counted: true,
    usage: noUsage,
    cost: noCost,
    finishReason: null,
    errorCode: null,
    error: null,
    systemPrompt: kept?.system ?? null,
    userPrompt: kept?.user ?? null,
    output: null,
    workflow: run.settings.workflow ?? null,
  };
}

function failed(
  run: QueuedExecution,
  errorCode: ExecutionErrorCode,
  error: string,
  more: { prompt?: Template; counted?: boolean; usage?: Usage; cost?: Cost },
): Attempt {
  const { prompt, counted = true, usage = noUsage, cost = noCost } = more;
  const kept = storeBodies(run) ? error : withoutProviderText(error);
  const how = { status: 'failed', errorCode, error: kept, counted, usage, cost } as const;
  return { kind: 'end', end: { ...unended(run, prompt), ...how } };
}

function storeBodies({ settings }: QueuedExecution): boolean {
  return settings.storeBodies ?? true;
}

/**
 * The end of a run whose call this process gave up, where the agent allows no second call. That the process lives does
 * not help: nobody knows how far the call had come.
 */
export function givenUp(run: QueuedExecution, sent: Template): End {
  return {
    ...unended(run, sent),
    status: 'failed',
    errorCode: 'WORKER_LOST',
    error: 'The process that worked on the run had to give its call up.',
    cost: unknownCost,
  };
}

function spentBy({ usage, cost }: ModelFailure): Spent {
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    costUsd: cost.usd,
    costKnown: cost.known,
  };
}

function ordinal(n: number): string {
  return ['0th', '1st', '2nd', '3rd'][n] ?? `${n}th`;
}

function lostMessage({ losses }: QueuedExecution): string {
  return `The run has lost the process that worked on it, for the ${ordinal(losses)} time.`;
}

function timeoutMessage(run: QueuedExecution): string {
  return `The run did not end within ${run.settings.timeoutMs} ms.`;
}

/** How many characters of templates are kept, the latest ones. */
const templateCharsMax = 33_554_432;

/** A template that a run refers to must exist: versions are never deleted while an agent or a run has them. */
export function templateCache(
  read: (promptVersionId: string) => Promise<Template | null>,
): (promptVersionId: string) => Promise<Template> {
  const kept = new Map<string, Template>();
  let chars = 0;
  return async (id) => {
    const known = kept.get(id);
    if (known) return known;
    const template = await read(id);
    if (!template) throw new CallFailure('NOT_FOUND', 'The prompt version does not exist.');
    if (!kept.has(id)) {
      kept.set(id, template);
      chars += sizeOf(template);
    }
    for (const [oldest, one] of kept) {
      if (chars <= templateCharsMax) break;
      kept.delete(oldest);
      chars -= sizeOf(one);
    }
    return template;
  };
}

function sizeOf({ system, user }: Template): number {
  return (system?.length ?? 0) + user.length;
}
