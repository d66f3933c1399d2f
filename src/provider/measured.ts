import type { RunFailureCode } from '../core/failure.ts';
import { ModelFailure, type ModelPort, splitModelName } from '../core/model.ts';
import { variableFor } from './environment.ts';

/** One call to a model. Provider and outcome come from closed lists, so that they can label a metric. */
export interface ModelCalled {
  /** A name that Cueline knows; `other` for those that workspaces give. */
  readonly provider: string;
  readonly outcome: Outcome;
  readonly seconds: number;
}

/** `aborted`: by a cancel, a drain or a lost lease. */
type Outcome = 'success' | 'aborted' | RunFailureCode;

/** The same models, each call told of. */
export function measured(models: ModelPort, onCalled: (called: ModelCalled) => void): ModelPort {
  return {
    async call(call) {
      const provider = knownProvider(splitModelName(call.model).provider);
      const begun = performance.now();
      const tell = (outcome: Outcome) =>
        onCalled({ provider, outcome, seconds: (performance.now() - begun) / 1_000 });
      try {
        const answer = await models.call(call);
        tell('success');
        return answer;
      } catch (error) {
        tell(outcomeOf(error, call.signal));
        throw error;
      }
    },
  };
}

/** How a call went that threw this. The time of the run is up by its own signal, too. */
export function outcomeOf(error: unknown, signal: AbortSignal): Outcome {
  if (error instanceof ModelFailure) return error.code;
  if (!signal.aborted) return 'INTERNAL';
  return (signal.reason as Error | undefined)?.name === 'TimeoutError'
    ? 'MODEL_TIMEOUT'
    : 'aborted';
}

function knownProvider(name: string): string {
  return name === 'cueline' || name === 'ollama' || variableFor(name) !== null ? name : 'other';
}
