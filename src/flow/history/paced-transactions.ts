/**
 * Runs one transaction, then rests for a multiple of its duration, so that background work uses only a part of one
 * connection. Returns undefined without running it once the round must end.
 */
export type RunPaced = <T>(transaction: () => Promise<T>) => Promise<T | undefined>;

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
