import { setTimeout as wait } from 'node:timers/promises';

/**
 * Runs one transaction, then rests for a multiple of its duration, so that background work uses only a part of one
 * connection. Returns undefined without running it once the round must end.
 */
export type RunPaced = <T>(transaction: () => Promise<T>) => Promise<T | undefined>;

/** @param rest the pause after a transaction, as a multiple of its duration; at most `restMsMax` */
export function paced(options: {
  readonly signal: AbortSignal;
  readonly rest: number;
  readonly restMsMax: number;
}): RunPaced {
  const { signal, rest, restMsMax } = options;
  return async (transaction) => {
    if (signal.aborted) return undefined;
    const startedAt = performance.now();
    const result = await transaction();
    const tookMs = Math.max(transactionMsMin, performance.now() - startedAt);
    const restMs = Math.min(restMsMax, tookMs * rest);
    if (restMs > 0) await wait(restMs, undefined, { signal }).catch(() => {});
    return result;
  };
}

/** Also very short transactions are followed by a pause. */
const transactionMsMin = 5;

/** Runs all tasks, even if some fail: one task must not block the others forever. Throws the first failure. */
export async function runAll(tasks: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const task of tasks) await task().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Repeats a batch of up to `limit` rows while it is full. Ends as well if the batch returns undefined. */
export async function repeatWhileFull(
  limit: number,
  batch: () => Promise<number | undefined>,
): Promise<void> {
  while ((await batch()) === limit);
}
