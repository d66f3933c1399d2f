import { DatabaseUnavailable } from '../../store/connection/database-error.ts';

/**
 * What probes and scrapes ask of the database must not weigh on it: it is read at most once in `keptMs`, whoever asks
 * and however often.
 */
export function kept<T>(read: () => Promise<T>, keptMs: number): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | null = null;
  return () => {
    const now = performance.now();
    if (!last || now - last.at >= keptMs) last = { at: now, value: read() };
    return last.value;
  };
}

/** Gives up on what does not answer in time. What hangs keeps its connection; the next one takes another. */
export async function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new DatabaseUnavailable('the database did not answer')),
    timeoutMs,
  );
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}
