import { bytesOf } from '../../core/byte-shares.ts';
import { boundValue } from '../../core/execution/bound-values.ts';
import { outOfTime } from '../../core/execution/out-of-time.ts';
import { failed, retry } from '../../core/execution/outcome.ts';
import type { QueuedExecution } from '../../core/execution/queued-execution.ts';
import { delayWithin, retryDelayMs } from '../../core/execution/retry-delay.ts';
import { toId } from '../../core/id.ts';
import { storableJson } from '../../core/storable-text.ts';
import {
  type Call,
  failedCall,
  type Settlement,
  settle,
  settleUnknown,
  toolOf,
} from '../../core/tools/call-state.ts';
import type { ExecutedTool } from '../../core/tools/executed-tool.ts';
import type { CalledTool, ToolOutcome } from '../../core/tools/tool-port.ts';
import { parallelCallsMax, toolSettingsDefault } from '../../core/tools/tool-settings.ts';
import {
  type LoopOutcome,
  type LoopRun,
  type StepResult,
  stopped,
  type ToolLoopDeps,
  writeStep,
} from './loop-run.ts';
import type { CalledTools, Dispatch } from './step-writes.ts';

/** The calls of a turn, as they were committed. */
export interface OpenTurn {
  readonly execution: QueuedExecution;
  readonly n: number;
  readonly calls: readonly Call[];
  readonly tools: readonly ExecutedTool[];
  readonly leftMs: number;
  /** What was dispatched and not sent, because this claim has just committed the turn; otherwise null. */
  readonly dispatched: CalledTools | null;
}

/**
 * Sends the open calls of a turn, some at a time, until all have ended or the execution must end or wait.
 *
 * Invariants
 * - A request leaves after its dispatch is committed under the claim of this process, and each outcome is committed before anything
 *   follows from it.
 * - A call that another claim has dispatched is not safe to send: its outcome is unknown.
 * - Once the execution cannot go on, nothing more of the turn is sent.
 */
export async function callTools(
  deps: ToolLoopDeps,
  run: LoopRun,
  turn: OpenTurn,
): Promise<{ readonly calls: readonly Call[]; readonly outcome: LoopOutcome | null }> {
  const calls = new TurnCalls(deps, run, turn);
  await calls.finish();
  return { calls: calls.all, outcome: calls.outcome() };
}

class TurnCalls {
  readonly #deps: ToolLoopDeps;
  readonly #run: LoopRun;
  readonly #turn: OpenTurn;
  readonly #calls: Call[];
  /** Where the calls go that this claim has dispatched, by part. */
  readonly #called: Map<number, CalledTool | null>;
  readonly #startedAt = performance.now();
  #lost = false;
  /** PostgreSQL has refused a dispatch: nothing was sent. */
  #broken = false;
  /** How long the servers that refused a call asked to wait. */
  #retryAfterMs = 0;
  /** What the execution waits for. */
  #waitCode: QueuedExecution['waitCode'];

  constructor(deps: ToolLoopDeps, run: LoopRun, turn: OpenTurn) {
    this.#deps = deps;
    this.#run = run;
    this.#turn = turn;
    this.#calls = [...turn.calls];
    this.#called = new Map(turn.dispatched);
    this.#waitCode = turn.execution.waitCode;
  }

  get all(): readonly Call[] {
    return this.#calls;
  }

  async finish(): Promise<void> {
    for (const call of this.#turn.dispatched ? [] : this.#calls.filter(isDispatched)) {
      await this.#settle(call, settleUnknown(call));
    }
    const open = this.#calls
      .filter((call) => call.state === 'ready' || isDispatched(call))
      .values();
    const sendNext = async () => {
      for (const call of open) {
        if (!this.#mustStop()) await this.#send(call);
        else if (isDispatched(call)) await this.#settle(call, settle(call, unsent));
      }
    };
    await Promise.all(Array.from({ length: parallelCallsMax }, sendNext));
  }

  /** Null if all calls have ended and the model is next. */
  outcome(): LoopOutcome | null {
    if (this.#lost) return stopped;
    if (this.#broken) return failed('INTERNAL', 'Internal error.', { counted: false });
    const ended = this.#endingCall();
    if (ended) return ended;
    if (this.#calls.every(({ state }) => state !== 'ready')) return null;
    if (this.#run.signal.aborted) return stopped;
    const { rejections, settings } = this.#turn.execution;
    const waitCode = this.#waitCode;
    if (this.#leftMs() <= 0) return outOfTime({ settings, waitCode }, null);
    const waitMs = retryDelayMs(rejections + 1, this.#retryAfterMs, Math.random());
    const leftMs = Math.max(0, this.#leftMs());
    // At the deadline at the latest, which ends it.
    const delayMs = delayWithin(leftMs, waitMs, Math.random()) ?? leftMs;
    return retry({ rejected: true, delayMs, waitCode });
  }

  #leftMs(): number {
    return this.#turn.leftMs - (performance.now() - this.#startedAt);
  }

  #mustStop(): boolean {
    const { signal } = this.#run;
    return (
      this.#lost ||
      this.#broken ||
      signal.aborted ||
      this.#leftMs() <= 0 ||
      this.#endingCall() !== null
    );
  }

  /** Why the execution cannot go on after a call. */
  #endingCall(): LoopOutcome | null {
    const unknown = this.#calls.find(({ state }) => state === 'unknown');
    if (unknown) {
      const message = `Nobody knows whether the call ${idOf(unknown)} of the tool "${unknown.name}" took effect.`;
      return failed('TOOL_OUTCOME_UNKNOWN', message, { counted: false });
    }
    const { onError } = this.#turn.execution.settings.tools ?? toolSettingsDefault;
    const wrong = this.#calls.find(({ errorCode }) => errorCode === 'TOOL_SERVER_ERROR');
    if (onError !== 'stop' || !wrong) return null;
    const message = `The call ${idOf(wrong)} of the tool "${wrong.name}" ended with an error.`;
    return failed('TOOL_SERVER_ERROR', message, { counted: false });
  }

  async #send(call: Call): Promise<void> {
    const { execution, tools } = this.#turn;
    const tool = toolOf(tools, call.name);
    const used = tool && dispatchOf(tool, call, execution);
    if (!tool || !used) {
      await this.#settle(
        call,
        failedCall('A value that the call supplies does not exist any more.'),
      );
      return;
    }
    const sent = isDispatched(call) ? call : await this.#dispatch(call, used);
    if (!sent) return;
    const outcome = await this.#request(tool, call, used.usedArguments);
    if (outcome.kind === 'refused') {
      this.#retryAfterMs = Math.max(this.#retryAfterMs, outcome.retryAfterMs);
    }
    const settlement = settle(sent, outcome);
    if (settlement.state === 'ready') this.#waitCode = 'TOOL_SERVER_ERROR';
    await this.#settle(sent, settlement);
  }

  /** Null if it must not be sent. */
  async #dispatch(call: Call, dispatch: Dispatch): Promise<Call | null> {
    const { part } = call;
    const result = await this.#write((fence) =>
      this.#deps.writes.dispatch({ ...fence, part, ...dispatch }),
    );
    if (result === 'unstorable') this.#broken = true;
    if (result === 'lost' || result === 'unstorable') return null;
    this.#called.set(part, result.get(part) ?? null);
    return { ...call, sent: call.sent + 1 };
  }

  async #request(tool: ExecutedTool, call: Call, argumentsJson: string): Promise<ToolOutcome> {
    const { id: executionId } = this.#turn.execution;
    const { signal } = this.#run;
    if (signal.aborted) return unsent;
    try {
      return await this.#deps.tools.call({
        toolCallId: idOf(call),
        ...{ executionId, argumentsJson, signal, tool: tool.tool, resultLimit: tool.resultLimit },
        called: this.#called.get(call.part) ?? null,
        timeoutMs: Math.max(1, Math.ceil(Math.min(tool.timeoutMs, this.#leftMs()))),
      });
    } catch (error) {
      this.#deps.onError(error, 'tool call');
      return { kind: 'unknown', problem: 'Internal error.' };
    }
  }

  async #settle(call: Call, settlement: Settlement): Promise<void> {
    const { part } = call;
    let written = settlement;
    let result = await this.#write((fence) =>
      this.#deps.writes.settle({ ...fence, part, settlement }),
    );
    if (result === 'unstorable') {
      written = failedCall('The result cannot be stored.');
      const stored = written;
      result = await this.#write((fence) =>
        this.#deps.writes.settle({ ...fence, part, settlement: stored }),
      );
    }
    if (result !== true) return;
    const { bytes } = this.#deps;
    this.#run.reservations.push(bytes.add(bytesOf([written.result ?? ''])));
    const { state, givenBack, result: text, isError, errorCode } = written;
    const sent = call.sent - Number(givenBack);
    this.#calls[part - 1] = { ...call, state, sent, result: text, isError, errorCode };
  }

  async #write<T>(write: (fence: Fence) => Promise<T | null>): Promise<StepResult<T>> {
    const { execution, n } = this.#turn;
    const { id: executionId, worker, attempt } = execution;
    const result = await writeStep(this.#deps, this.#run, () =>
      write({ executionId, worker, attempt, n }),
    );
    if (result === 'lost') this.#lost = true;
    return result;
  }
}

interface Fence {
  readonly executionId: string;
  readonly worker: string;
  readonly attempt: number;
  readonly n: number;
}

function idOf({ toolCallId }: Call): string {
  return toId('toolCall', toolCallId);
}

/** With the arguments of the model and those that the call supplies, which it cannot replace. Null if one of these is gone. */
function dispatchOf(
  { server, tool, bind }: ExecutedTool,
  { arguments: given }: Call,
  { labels }: QueuedExecution,
): Dispatch | null {
  const bound = Object.entries(bind).map(
    ([name, path]) => [name, boundValue(path, labels)] as const,
  );
  if (bound.some(([, value]) => value === null)) return null;
  const own = given as Readonly<Record<string, unknown>>;
  const usedArguments = storableJson({ ...own, ...Object.fromEntries(bound) });
  return { server, tool, usedArguments };
}

/** Those of the calls that a turn dispatches, by part. */
export function dispatchesOf(
  calls: readonly Call[],
  tools: readonly ExecutedTool[],
  execution: QueuedExecution,
): Map<number, Dispatch> {
  const dispatches = new Map<number, Dispatch>();
  for (const call of calls.filter(isDispatched)) {
    const tool = toolOf(tools, call.name);
    const dispatch = tool && dispatchOf(tool, call, execution);
    if (dispatch) dispatches.set(call.part, dispatch);
  }
  return dispatches;
}

function isDispatched({ state }: Call): boolean {
  return state === 'dispatched';
}

/** Of a call that was dispatched and did not leave. */
const unsent = { kind: 'refused', retryAfterMs: 0, problem: 'It was not sent.' } as const;
