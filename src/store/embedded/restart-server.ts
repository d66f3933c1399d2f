import { setTimeout as delay } from 'node:timers/promises';
import { type Launch, launch, type Server } from './server.ts';

export interface KeptUp {
  /** Ends PostgreSQL for good. */
  stop(): Promise<void>;
  /** Told each time that it ended by itself. */
  onExit(tell: (how: string) => void): void;
}

const pauseMsMin = 100;
const pauseMsMax = 5_000;
/** One that ran for this long is not taken to fall at every start. */
const steadyMs = 60_000;

/** Starts PostgreSQL again, with growing pauses, each time that it ends by itself. */
export function keepUp(plan: Launch, first: Server): KeptUp {
  const told: ((how: string) => void)[] = [];
  const stopping = new AbortController();
  let server: Server | null = first;
  let pauseMs = pauseMsMin;

  async function run(): Promise<void> {
    while (server) {
      const since = performance.now();
      const how = await server.ended;
      server = null;
      if (stopping.signal.aborted) return;
      if (performance.now() - since > steadyMs) pauseMs = pauseMsMin;
      plan.onLog(`PostgreSQL ended by itself (${how}) and is started again`);
      for (const tell of told) tell(how);
      while (!server && !stopping.signal.aborted) server = await relaunch();
    }
  }

  async function relaunch(): Promise<Server | null> {
    try {
      await delay(pauseMs, undefined, { signal: stopping.signal });
      pauseMs = Math.min(pauseMs * 2, pauseMsMax);
      const again = await launch({ ...plan, signal: stopping.signal });
      if (!stopping.signal.aborted) return again;
      await again.end();
    } catch (error) {
      if (!stopping.signal.aborted)
        plan.onLog(`PostgreSQL did not come back: ${(error as Error).message}`);
    }
    return null;
  }

  const running = run();
  return {
    onExit: (tell) => void told.push(tell),
    async stop() {
      stopping.abort();
      await server?.end();
      await running;
    },
  };
}
