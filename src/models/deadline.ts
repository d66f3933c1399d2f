import { type Cost, ModelDeferred, ModelFailure } from '../core/model/model-port.ts';

/**
 * Runs `work` until the caller's signal aborts or the time is up. The signal passed to `work` aborts with the error
 * that is then thrown: `MODEL_TIMEOUT` at that cost, or the caller's own reason, however `work` handles the abort.
 */
export async function withDeadline<T>(
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
  cost: Cost,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  // By hand: `AbortSignal.any` and `timeout` outlive the call, and there are thousands at once.
  const cancel = () => own.abort(signal.reason);
  const timer = setTimeout(() => own.abort(timeout(timeoutMs, cost)), timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await work(own.signal);
  } catch (error) {
    // A call that was never made remains so, whatever ended the wait for it.
    throw own.signal.aborted && !(error instanceof ModelDeferred) ? own.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

function timeout(timeoutMs: number, cost: Cost): ModelFailure {
  const message = `The model did not answer within ${timeoutMs} ms.`;
  return new ModelFailure('MODEL_TIMEOUT', message, { cost });
}
