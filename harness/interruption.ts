import { constants } from 'node:os';

const cleanUps = new Set<() => unknown>();
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Without it, an interrupted test, proof or benchmark would leave processes behind: they run in groups of their own, or
 * are stopped. Returns a function that takes the clean-up back.
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
  // Whatever is under way fails now, and must not end the process before the clean-up.
  process.on('uncaughtException', () => {});
  await Promise.allSettled([...cleanUps].map(async (cleanUp) => cleanUp()));
  process.exit(128 + constants.signals[signal]);
}
