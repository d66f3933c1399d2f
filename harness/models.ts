import { type Attempt, attemptOf } from '../src/core/execution/attempt.ts';
import { emitEnd } from '../src/core/model/model-events.ts';
import {
  type Emit,
  type ModelCall,
  ModelFailure,
  type ModelPort,
  type ModelResponse,
  noCost,
  noUsage,
  unknownCost,
} from '../src/core/model/model-port.ts';
import { withDeadline } from '../src/models/deadline.ts';

/**
 * A model inside the process: it returns the user prompt (10 input tokens, 5 output tokens, free) or follows the
 * script. For behaviour on the wire, use `fake-provider.ts`.
 */
export interface ScriptedModels extends ModelPort {
  readonly calls: readonly ModelCall[];
  /** The next calls take one of these steps each. */
  script(...steps: readonly Step[]): void;
  /** Holds the next call until `release` or an abort; `arrived` resolves when it starts. */
  hold(): HeldCall;
}

export type Step =
  | Partial<ModelResponse>
  | ModelFailure
  | ((call: ModelCall, emit: Emit) => Promise<Partial<ModelResponse>>);

export interface HeldCall {
  readonly arrived: Promise<ModelCall>;
  release(step?: Partial<ModelResponse> | ModelFailure): void;
}

export function scriptedModels(): ScriptedModels {
  const calls: ModelCall[] = [];
  const steps: Step[] = [];
  return {
    calls,
    call: (original, emit) =>
      withDeadline(original, unknownCost, async (signal) => {
        const call = { ...original, signal };
        calls.push(call);
        const next = steps.shift() ?? {};
        const running = typeof next === 'function' ? next(call, emit) : next;
        const step = running instanceof Promise ? await orAborted(running, signal) : running;
        if (step instanceof ModelFailure) throw step;
        const { text, ...response } = { ...echoed(call), ...step };
        if (text !== '') emit({ type: 'text', text });
        emitEnd(emit, response);
      }),
    script: (...more) => void steps.push(...more),
    hold() {
      const arrived = Promise.withResolvers<ModelCall>();
      const released = Promise.withResolvers<Partial<ModelResponse> | ModelFailure>();
      steps.push(async (call) => {
        arrived.resolve(call);
        const step = await released.promise;
        if (step instanceof ModelFailure) throw step;
        return step;
      });
      return { arrived: arrived.promise, release: (step = {}) => released.resolve(step) };
    },
  };
}

function echoed({ user }: ModelCall): ModelResponse {
  const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };
  return { text: user, usage, finishReason: 'stop', cost: noCost };
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal.aborted) reject(signal.reason);
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return Promise.race([work, promise]);
}

/** An attempt that failed without a cost. */
export const failedAttempt: Attempt = attemptOf({
  ...{ model: 'fake/m', errorCode: 'PROVIDER_ERROR', latencyMs: 1 },
  ...{ usage: noUsage, cost: noCost },
});
