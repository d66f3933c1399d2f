import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Finds the database error behind the error of a library that hides it. Without it, a lookup that got no connection could
 * not be distinguished from a bug.
 */

interface Observed {
  error: unknown;
}

const observer = new AsyncLocalStorage<Observed>();

/** Runs `work`. `lastError` returns the error of its last statement or connection that failed, else undefined. */
export function observeErrors<T>(work: (lastError: () => unknown) => Promise<T>): Promise<T> {
  const observed: Observed = { error: undefined };
  return observer.run(observed, () => work(() => observed.error));
}

/** Of a statement that failed, or of a connection that was not available. */
export function reportError(error: unknown): void {
  const observed = observer.getStore();
  if (observed) observed.error = error;
}
