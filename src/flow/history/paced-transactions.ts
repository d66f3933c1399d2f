/**
 * Carries out one transaction, then rests for several times as long as that took: so only a part of what one connection can
 * do is spent. Undefined, and nothing done, once the round is to end.
 */
export type Pace = <T>(work: () => Promise<T>) => Promise<T | undefined>;

/** Does all of it, whatever becomes of one: it must not stand in the way of the rest for ever. Throws what failed first. */
export async function inTurn(works: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const work of works) await work().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Again and again as long as there is as much as one transaction takes; nothing more once the round is to end. */
export async function exhaust(
  limit: number,
  take: () => Promise<number | undefined>,
): Promise<void> {
  while ((await take()) === limit);
}
