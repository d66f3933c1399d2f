import { DatabaseUnavailable } from '../db/database-error.ts';

/** Caches a read for `ttlMs`, so that frequent probes and scrapes put no load on the database. */
export function cached<T>(read: () => Promise<T>, ttlMs: number): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | null = null;
  return () => {
    const now = performance.now();
    if (!last || now - last.at >= ttlMs) last = { at: now, value: read() };
    return last.value;
  };
}

/** Fails if the work takes longer. The connection stays with it; the next read takes another. */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new DatabaseUnavailable('the database did not answer')),
    timeoutMs,
  );
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
