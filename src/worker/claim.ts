import type { Run } from '../core/run.ts';
import type { Db } from '../store/db.ts';
import { claimForOthers, claimRuns, promoteDelayed } from '../store/queue.ts';
import { sweepWorkers } from '../store/workers.ts';
import type { SlotCount } from './slots.ts';

/**
 * The loop that claims: woken by a hint or a freed slot, and every second all the same, since hints can be lost.
 * One claim at a time; what frees meanwhile goes into the next.
 */
export interface ClaimLoop {
  wake(): void;
  wakeIn(delayMs: number): void;
  /** A slot became free: claims only when the last claim left something behind. */
  freed(): void;
  /** Resolves once no claim is under way any more. */
  stop(): Promise<void>;
}

export interface ClaimParts {
  readonly db: Db;
  readonly count: SlotCount;
  readonly leaseMs: number;
  readonly lease: () => string | null;
  /** How long the lease has been held without a break. */
  readonly steadyMs: () => number;
  readonly start: (run: Run) => void;
  readonly onError: (error: unknown, what: string) => void;
}

const pollMs = 1_000;
const claimMax = 250;
const firstId = '00000000-0000-0000-0000-000000000000';

export function claimLoop(parts: ClaimParts): ClaimLoop {
  const { db, count } = parts;
  let claiming: Promise<void> | null = null;
  let again = false;
  let leftBehind = true;
  let stopped = false;
  let lastServed = firstId;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let pollTimer: NodeJS.Timeout | undefined;
  const timers = new Set<NodeJS.Timeout>();
  schedulePoll();

  function schedulePoll(): void {
    pollTimer = setTimeout(
      () => {
        wake();
        schedulePoll();
      },
      pollMs * (0.8 + Math.random() * 0.4),
    );
  }

  function wake(): void {
    again = true;
    if (stopped) return;
    claiming ??= run().finally(() => {
      claiming = null;
    });
  }

  async function run(): Promise<void> {
    try {
      while (again && !stopped) {
        again = false;
        await sweep();
        await promoteDelayed(db);
        await claim();
      }
    } catch (error) {
      parts.onError(error, 'claim');
    }
  }

  async function sweep(): Promise<void> {
    if (performance.now() - sweptAt < parts.leaseMs / 3) return;
    // After a failover the others may not have found the database again: they get as long as a lease lasts.
    if (parts.steadyMs() < parts.leaseMs) return;
    sweptAt = performance.now();
    await sweepWorkers(db, parts.leaseMs);
  }

  async function claim(): Promise<void> {
    const worker = parts.lease();
    if (worker === null) return;
    const general = Math.min(claimMax, count.free);
    leftBehind = general === 0;
    if (general > 0) {
      const runs = await holding(general, () => claimRuns(db, worker, general));
      leftBehind = runs.length === general;
      if (leftBehind) again = true;
    }
    const reserved = Math.min(claimMax, count.freeForOthers - count.free);
    if (count.free > 0 || reserved <= 0) return;
    const question = { held: count.holders(), limit: reserved };
    const claimed = await holding(reserved, async () => {
      const runs = await claimForOthers(db, worker, { ...question, after: lastServed });
      if (runs.length === 0 && lastServed !== firstId) {
        return claimForOthers(db, worker, { ...question, after: firstId });
      }
      return runs;
    });
    lastServed = claimed.at(-1)?.workspaceId ?? firstId;
  }

  /** Keeps the slots while the claim is under way, then fills them. */
  async function holding(slots: number, claimThem: () => Promise<Run[]>): Promise<Run[]> {
    count.hold(slots);
    let runs: Run[] = [];
    try {
      runs = await claimThem();
    } finally {
      count.unhold(slots);
    }
    for (const one of runs) {
      count.add(one.workspaceId);
      parts.start(one);
    }
    return runs;
  }

  return {
    wake,
    wakeIn(delayMs) {
      if (delayMs === 0) return wake();
      const timer = setTimeout(() => {
        timers.delete(timer);
        wake();
      }, delayMs);
      timers.add(timer);
    },
    freed() {
      if (leftBehind) wake();
    },
    async stop() {
      stopped = true;
      clearTimeout(pollTimer);
      for (const timer of timers) clearTimeout(timer);
      await claiming;
    },
  };
}
