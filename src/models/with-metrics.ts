import type { ExecutionErrorCode } from '../core/failure.ts';
import {
  ModelDeferred,
  ModelFailure,
  type ModelPort,
  splitModelName,
} from '../core/model/model-port.ts';
import { knownProvider } from './connection/environment.ts';

/** One model call. Provider and outcome come from closed lists, so that they can label a metric. */
export interface ModelCalled {
  /** A provider name that Cueline knows; `other` for names that workspaces chose. */
  readonly provider: string;
  readonly outcome: Outcome;
  /** `provider/model` as the workspace names it: no label. */
  readonly model: string;
  readonly workspaceId: string;
  readonly seconds: number;
}

/**
 * `aborted`: by a cancel, a drain or a lost lease; `deferred`: not made, because the provider's breaker is open or
 * full.
 */
type Outcome = 'success' | 'aborted' | 'deferred' | ExecutionErrorCode;

/** The same models; `onCalled` receives each call. */
export function withMetrics(models: ModelPort, onCalled: (called: ModelCalled) => void): ModelPort {
  return {
    async call(call, emit) {
      const provider = knownProvider(splitModelName(call.model).provider);
      const begun = performance.now();
      const { model, workspaceId } = call;
      const report = (outcome: Outcome) =>
        onCalled({
          provider,
          outcome,
          model,
          workspaceId,
          seconds: (performance.now() - begun) / 1_000,
        });
      try {
        await models.call(call, emit);
      } catch (error) {
        report(outcomeOf(error, call.signal));
        throw error;
      }
      report('success');
    },
  };
}

/** The outcome of a call that threw this error. The execution's own timeout aborts through its signal as well. */
export function outcomeOf(error: unknown, signal: AbortSignal): Outcome {
  if (error instanceof ModelFailure) return error.code;
  if (error instanceof ModelDeferred) return 'deferred';
  if (!signal.aborted) return 'INTERNAL';
  return (signal.reason as Error | undefined)?.name === 'TimeoutError'
    ? 'MODEL_TIMEOUT'
    : 'aborted';
}
