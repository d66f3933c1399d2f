import {
  type ModelCall,
  ModelFailure,
  type ModelPort,
  type ModelResponse,
  noCost,
  unknownCost,
} from '../src/core/model/model-port.ts';
import { withDeadline } from '../src/net/deadline.ts';

/**
 * A model in the process: it answers with the user prompt (10 tokens in, 5 out, free), or as the script says. For what
 * happens on the wire to a provider there is `harness/fake-provider.ts`.
 */
export interface ScriptedModels extends ModelPort {
  readonly calls: readonly ModelCall[];
  /** The next calls take these steps, one each. */
  script(...steps: readonly Step[]): void;
  /** The next call is held until it is told to go on (or aborted); resolves `arrived` once it is there. */
  hold(): Held;
}

export type Step =
  | Partial<ModelResponse>
  | ModelFailure
  | ((call: ModelCall) => Promise<Partial<ModelResponse>>);

export interface Held {
  readonly arrived: Promise<ModelCall>;
  release(step?: Partial<ModelResponse> | ModelFailure): void;
}

export function scriptedModels(): ScriptedModels {
  const calls: ModelCall[] = [];
  const steps: Step[] = [];
  return {
    calls,
    call: (given) =>
      withDeadline(given, unknownCost, async (signal) => {
        const call = { ...given, signal };
        calls.push(call);
        const next = steps.shift() ?? {};
        const step = typeof next === 'function' ? await orAborted(next(call), signal) : next;
        if (step instanceof ModelFailure) throw step;
        return { ...echoed(call), ...step };
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
