import { setTimeout as wait } from 'node:timers/promises';

const timeoutMs = 120_000;

/** Polls until the condition is true. False after a generous timeout. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > endMs) return false;
    await wait(5);
  }
  return true;
}
