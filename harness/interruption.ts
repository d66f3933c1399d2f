import { constants } from 'node:os';

const cleanUps = new Set<() => unknown>();
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a clean-up when a signal interrupts a test, proof or benchmark. Otherwise its child processes would keep running,
 * because they are paused or in their own process groups. Returns a function that unregisters the clean-up.
 */
export function onInterruption(cleanUp: () => unknown): () => void {
  if (cleanUps.size === 0) for (const signal of signals) process.on(signal, exit);
  cleanUps.add(cleanUp);
  return () => {
    cleanUps.delete(cleanUp);
    if (cleanUps.size === 0) for (const signal of signals) process.off(signal, exit);
  };
}

async function exit(signal: (typeof signals)[number]): Promise<void> {
  // Pending work fails now, but must not end the process before the clean-up.
  process.on('uncaughtException', () => {});
  await Promise.allSettled([...cleanUps].map(async (cleanUp) => cleanUp()));
  process.exit(128 + constants.signals[signal]);
}
