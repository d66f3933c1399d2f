import type { Message } from '../../core/agent/messages.ts';
import type { Prompt } from '../../core/agent/prompt.ts';
import { providerMessageCharsMax } from '../../core/agent/provider-message.ts';
import { messagesOf } from '../../core/agent/sent-prompt.ts';
import { bytesOf } from '../../core/byte-shares.ts';
import { addDecimals } from '../../core/decimal.ts';
import { attemptOf } from '../../core/execution/attempt.ts';
import { type Ended, failed, retry } from '../../core/execution/outcome.ts';
import type { QueuedExecution } from '../../core/execution/queued-execution.ts';
import { storable, storableJson } from '../../core/storable-text.ts';
import { type Call, exceededLimit, isMade, plannedCalls } from '../../core/tools/call-state.ts';
import type { ExecutedTool } from '../../core/tools/executed-tool.ts';
import { askedCallsMax, toolSettingsDefault } from '../../core/tools/tool-settings.ts';
import {
  type LoopOutcome,
  type LoopRun,
  stopped,
  type ToolLoopDeps,
  writeStep,
} from './loop-run.ts';
import type { StoredTurn, TurnMessage } from './step-reads.ts';
import type { CalledTools } from './step-writes.ts';
import { callTools, dispatchesOf } from './tool-calls.ts';

/**
 * The loop of an execution whose version executes tools: a turn of the model, its calls, the next turn with their results, until an
 * answer without calls ends the execution like any other.
 *
 * A turn is committed before anything of it is sent (`step-writes.ts`), so a finished turn is never paid for twice: whoever claims the
 * execution next reads the steps and goes on with the first call that is open, or with the next turn. What one turn costs is added to
 * what the live execution has spent, as failed attempts are.
 */
export class ToolLoop {
  readonly #deps: ToolLoopDeps;
  readonly #run: LoopRun;
  readonly #tools: readonly ExecutedTool[];
  readonly #turns: StoredTurn[];
  #execution: QueuedExecution;
  /** What the commit of the last turn has dispatched; null once it is sent, or if another claim has committed the turn. */
  #dispatched: CalledTools | null = null;

  constructor(
    deps: ToolLoopDeps,
    run: LoopRun,
    {
      execution,
      tools,
      turns,
    }: {
      readonly execution: QueuedExecution;
      readonly tools: readonly ExecutedTool[];
      readonly turns: readonly StoredTurn[];
    },
  ) {
    this.#deps = deps;
    this.#run = run;
    this.#tools = tools;
    this.#turns = [...turns];
    this.#execution = execution;
  }

  /** Under its current fence. */
  get execution(): QueuedExecution {
    return this.#execution;
  }

  get #calls(): readonly Call[] {
    return this.#turns.at(-1)?.calls ?? [];
  }

  /** Whether the execution goes on with calls, before it calls the model. */
  get hasOpenCalls(): boolean {
    return this.#calls.some(({ state }) => state === 'ready' || state === 'dispatched');
  }

  /** The turn of the model that is next, from 1. */
  get turn(): number {
    return this.#turns.length + 1;
  }

  /** Sends what is open of the last turn. Null if the model is called next. */
  async finishCalls(leftMs: number): Promise<LoopOutcome | null> {
    const turn = this.#turns.at(-1);
    if (!turn) return null;
    // What was read from the database has its room.
    const isNew = this.#dispatched !== null || this.hasOpenCalls;
    const finished = await callTools(this.#deps, this.#run, {
      ...{ execution: this.#execution, n: this.#turns.length, calls: turn.calls },
      ...{ tools: this.#tools, leftMs, dispatched: this.#dispatched },
    });
    this.#dispatched = null;
    const ended = { ...turn, calls: finished.calls };
    this.#turns.splice(-1, 1, ended);
    return finished.outcome ?? (isNew ? this.#makeRoom(ended) : null);
  }

  /**
   * For what a turn adds to the next request. Without room the execution goes back to the queue, and is read again once there is
   * some: two that keep what they hold while they wait for more could wait for each other.
   */
  #makeRoom({ message, calls }: StoredTurn): LoopOutcome | null {
    const results = calls.map(({ result }) => result);
    const room = this.#deps.bytes.tryHold(this.#execution.workspaceId, bytesOf([message, results]));
    if (!room) return retry({ delayMs: roomDelayMs });
    this.#run.reservations.push(room);
    return null;
  }

  /** The prompt of the next turn: the conversation so far. At a limit, no tool may be called. */
  promptOf(prompt: Prompt): Prompt {
    if (this.#turns.length === 0) return prompt;
    const { toolChoice: _, ...rest } = prompt;
    const isLimited = this.#calls.some(({ state }) => state === 'canceled');
    return {
      ...rest,
      messages: [...messagesOf(prompt), ...this.#turns.flatMap(messagesOfTurn)],
      ...(isLimited && { toolChoice: 'none' }),
    };
  }

  /**
   * Commits a turn with calls. Null if its calls are next.
   * @param keptUsd what it keeps spoken for beside its known cost
   */
  async endTurn(answer: Ended, keptUsd: string): Promise<LoopOutcome | null> {
    const { id: executionId, model } = this.#execution;
    const settings = this.#execution.settings.tools ?? toolSettingsDefault;
    const n = this.turn;
    const asked = answer.toolCalls.length;
    const made = this.#turns.flatMap(({ calls }) => calls).filter(isMade).length;
    const limit = this.#isLimited
      ? 'The model called tools although none were left.'
      : exceededLimit(settings, { n, made, asked });
    const mustFail = settings.onLimit === 'fail' || this.#isLimited || asked > askedCallsMax;
    if (limit !== null && mustFail) {
      const { usage, cost, attemptMs, firstTextMs, details, prompt, finishReason } = answer;
      const spent = { usage, cost, attemptMs, firstTextMs, details, prompt, finishReason };
      return failed('TOOL_LIMIT', limit, spent);
    }
    const unsent = limit && `Not called. ${limit} Answer with what is known.`;
    const calls = plannedCalls({ executionId, n }, answer.toolCalls, this.#tools, unsent);
    const message = messageOf(answer);
    const json = storableJson(message);
    const { usage, cost, attemptMs } = answer;
    const latencyMs = attemptMs === null ? null : Math.round(attemptMs);
    const { worker, attempt } = this.#execution;
    const dispatched = dispatchesOf(calls, this.#tools, this.#execution);
    const result = await writeStep(this.#deps, this.#run, () =>
      this.#deps.writes.turn({
        ...{ executionId, worker, attempt, n, calls, dispatched, message: json },
        finished: attemptOf({ model, errorCode: null, usage, cost, latencyMs }),
        spent: {
          inputTokens: usage.inputTokens,
          outputTokens: usage.outputTokens,
          costUsd: cost.usd,
          costKnown: cost.known,
          keptUsd,
          costSource: cost.source ?? null,
          priceId: cost.priceId ?? null,
        },
      }),
    );
    if (result === 'lost') return stopped;
    if (result === 'unstorable')
      return failed('INTERNAL', 'Internal error.', { usage, cost, attemptMs });
    this.#run.reservations.push(this.#deps.bytes.add(bytesOf([json])));
    this.#turns.push({ message, calls });
    this.#dispatched = result;
    this.#execution = {
      ...this.#execution,
      ...nextTurn,
      ...nextCost(this.#execution, addDecimals(cost.usd, keptUsd)),
      ...{ attempt: attempt + 1, turns: n },
    };
    this.#run.advance(this.#execution);
    return null;
  }

  get #isLimited(): boolean {
    return this.#calls.some(({ state }) => state === 'canceled');
  }
}

/** Until an execution that found no room is claimed again. */
const roomDelayMs = 1_000;

/** What counts for each turn. */
const nextTurn = {
  ...{ failures: 0, rejections: 0, waitCode: null },
  ...{ called: true, emptied: false, mismatch: null },
};

/** What the limit of cost and budgets have to do with the next turn: the turn before has settled what was reserved for it. */
function nextCost({ spentUsd, mustReserve, reservedUsd }: QueuedExecution, usd: string) {
  return {
    spentUsd: addDecimals(spentUsd, usd),
    callBoundUsd: null,
    mustReserve: mustReserve || reservedUsd !== null,
    reservedUsd: null,
  };
}

/** A message that is too long is sent back without what only its provider reads. */
function messageOf({ output, details: { message } }: Ended): TurnMessage {
  const isKept = message && bytesOf(message) <= 2 * providerMessageCharsMax;
  return { text: storable(output ?? ''), ...(isKept && { provided: message }) };
}

function messagesOfTurn({ message: { text, provided }, calls }: StoredTurn): Message[] {
  const toolCalls = calls.map(({ callId: id, name, arguments: given }) => {
    return { id, name, arguments: given };
  });
  return [
    { role: 'assistant', content: text, toolCalls, ...(provided && { provided }) },
    ...calls.map(({ callId, result }) => {
      return { role: 'tool', toolCallId: callId, content: result ?? '' } as const;
    }),
  ];
}
