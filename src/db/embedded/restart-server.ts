import { setTimeout as delay } from 'node:timers/promises';
import { type LaunchOptions, launch, type Server } from './embedded-server.ts';

/** A PostgreSQL that is restarted after each crash. */
export interface SupervisedServer {
  /** Stops PostgreSQL without a restart. */
  stop(): Promise<void>;
  /** The listener receives how PostgreSQL ended, after each crash. */
  onExit(listener: (how: string) => void): void;
}

const restartDelayMsMin = 100;
const restartDelayMsMax = 5_000;
/** After this uptime the delay starts again at its minimum. */
const stableMs = 60_000;

/** Restarts PostgreSQL with increasing delays each time it ends by itself. */
export function superviseServer(options: LaunchOptions, first: Server): SupervisedServer {
  const listeners: ((how: string) => void)[] = [];
  const stopping = new AbortController();
  let server: Server | null = first;
  let restartDelayMs = restartDelayMsMin;

  async function supervise(): Promise<void> {
    while (server) {
      const startedAt = performance.now();
      const how = await server.exited;
      server = null;
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > stableMs) restartDelayMs = restartDelayMsMin;
      options.onLog(`PostgreSQL ended (${how}); restarting`);
      for (const listener of listeners) listener(how);
      while (!server && !stopping.signal.aborted) server = await restart();
    }
  }

  async function restart(): Promise<Server | null> {
    try {
      await delay(restartDelayMs, undefined, { signal: stopping.signal });
      restartDelayMs = Math.min(restartDelayMs * 2, restartDelayMsMax);
      const restarted = await launch({ ...options, signal: stopping.signal });
      if (!stopping.signal.aborted) return restarted;
      await restarted.stop();
    } catch (error) {
      if (!stopping.signal.aborted)
        options.onLog(`PostgreSQL restart failed: ${(error as Error).message}`);
    }
    return null;
  }

  const supervising = supervise();
  return {
    onExit: (listener) => void listeners.push(listener),
    async stop() {
      stopping.abort();
      await server?.stop();
      await supervising;
    },
  };
}
