import type { Waiters } from './wait.ts';

/** Between two reads, if nothing reports the end. */
const readMs = 15_000;

/**
 * Waits until `read` gives the end of an execution: as long as it takes, until the signal aborts or the process shuts down.
 * Null in the last two cases; the execution continues. It subscribes before each read, so an end between the two is not
 * missed. `isTransient` says which errors of a read to wait out.
 */
export async function awaitEnd<End>(
  waiters: Waiters,
  id: string,
  signal: AbortSignal,
  read: () => Promise<End | null>,
  isTransient: (error: unknown) => boolean,
): Promise<End | null> {
  while (!signal.aborted && !waiters.closed) {
    const done = new AbortController();
    const stop = () => done.abort();
    signal.addEventListener('abort', stop, { once: true });
    const waited = waiters.wait(id, readMs, done.signal);
    try {
      const end = await read();
      if (end !== null) return end;
      await waited;
    } catch (error) {
      if (!isTransient(error)) throw error;
      await waited;
    } finally {
      done.abort();
      signal.removeEventListener('abort', stop);
    }
  }
  if (!waiters.closed || signal.aborted) return null;
  return read().catch((error: unknown) => {
    if (!isTransient(error)) throw error;
    return null;
  });
}
