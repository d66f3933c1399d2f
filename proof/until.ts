import { setTimeout as wait } from 'node:timers/promises';

const patienceMs = 120_000;

/** Polls until the condition is true, within a generous time. */
export async function until(there: () => boolean | Promise<boolean>): Promise<boolean> {
  const endMs = performance.now() + patienceMs;
  while (!(await there())) {
    if (performance.now() > endMs) return false;
    await wait(5);
  }
  return true;
}
