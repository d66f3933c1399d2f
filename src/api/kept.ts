/**
 * What probes and scrapes ask of the database: read at most once in `keptMs`, whoever asks and however often, and given
 * up after `timeoutMs`. A read that hangs keeps its connection; the next one takes another.
 */
export function kept<T>(
  read: () => Promise<T>,
  { keptMs, timeoutMs }: { keptMs: number; timeoutMs: number },
): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | null = null;
  return () => {
    const now = performance.now();
    if (!last || now - last.at >= keptMs) last = { at: now, value: within(read(), timeoutMs) };
    return last.value;
  };
}

async function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('the database did not answer')), timeoutMs);
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}
