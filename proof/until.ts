import { setTimeout as wait } from 'node:timers/promises';

const patienceMs = 120_000;

/** Whether something comes to be, within a time that no machine needs. */
export async function until(there: () => boolean | Promise<boolean>): Promise<boolean> {
  const endMs = performance.now() + patienceMs;
  while (!(await there())) {
    if (performance.now() > endMs) return false;
    await wait(5);
  }
  return true;
}
