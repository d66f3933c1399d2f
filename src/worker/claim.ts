import { setImmediate as immediate } from 'node:timers/promises';
import type { QueuedExecution } from '../core/execution/queued-execution.ts';
import { tagBound } from '../core/execution/tag-bound.ts';
import type { Db } from '../store/connection/database.ts';
import {
  claimExecutions,
  claimForOtherWorkspaces,
  promoteDelayed,
  promotedMax,
} from '../store/execution/queue.ts';
import { sweepWorkers } from '../store/execution/workers.ts';
import type { SlotCount } from './slot-count.ts';

/**
 * The loop that claims: woken by a hint or a freed slot, and every second all the same, since hints can be lost.
 * One claim at a time; what frees meanwhile goes into the next.
 *
 * A claim looks only where runs can stand that were accepted by a transaction as long as transactions usually are
 * (`tagBound`); a poll also finds those of a slow one, and once a minute it looks everywhere.
 */
export interface ClaimLoop {
  wake(): void;
  wakeAfter(delayMs: number): void;
  /** A slot became free: claims only when the last claim left something behind. */
  freed(): void;
  /** Resolves once no claim is under way any more. */
  stop(): Promise<void>;
}

export interface ClaimDeps {
  readonly db: Db;
  readonly count: SlotCount;
  readonly leaseMs: number;
  readonly lease: () => string | null;
  /** How long the lease has been held without a break. */
  readonly steadyMs: () => number;
  readonly start: (run: QueuedExecution) => void;
  readonly onError: (error: unknown, what: string) => void;
}

const pollMs = 1_000;
/** How long a transaction usually takes at most, and a slow one. */
const usualMs = 2_000;
const slowMs = 20_000;
const everywhereMs = 60_000;
const claimMax = 250;
const startsInARow = 10;
const firstId = '00000000-0000-0000-0000-000000000000';

export function claimLoop(parts: ClaimDeps): ClaimLoop {
  const { db, count } = parts;
  let claiming: Promise<void> | null = null;
  let again = false;
  let leftBehind = true;
  let stopped = false;
  let lastServed = firstId;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let everywhereAt = Number.NEGATIVE_INFINITY;
  let spanMs = slowMs;
  let lookedAt = 0;
  let promotedAll = false;
  const bound = tagBound();
  let pollTimer: NodeJS.Timeout | undefined;
  const timers = new Set<NodeJS.Timeout>();
  schedulePoll();

  function schedulePoll(): void {
    pollTimer = setTimeout(
      () => {
        spanMs = slowMs;
        wake();
        schedulePoll();
      },
      pollMs * (0.8 + Math.random() * 0.4),
    );
  }

  function wake(): void {
    again = true;
    if (stopped) return;
    claiming ??= run();
  }

  async function run(): Promise<void> {
    try {
      while (again && !stopped) {
        again = false;
        await sweep();
        await look();
      }
    } catch (error) {
      // What did not come back may have left anything behind.
      everywhereAt = Number.NEGATIVE_INFINITY;
      parts.onError(error, 'claim');
    } finally {
      // Here, not once the promise is settled: whoever wakes in between would be overheard.
      claiming = null;
    }
  }

  async function sweep(): Promise<void> {
    if (performance.now() - sweptAt < parts.leaseMs / 3) return;
    // After a failover the others may not have found the database again: they get as long as a lease lasts.
    const own = parts.lease();
    if (own === null || parts.steadyMs() < parts.leaseMs) return;
    sweptAt = performance.now();
    await sweepWorkers(db, own, parts.leaseMs);
  }

  async function look(): Promise<void> {
    const now = performance.now();
    const everywhere = now - everywhereAt > everywhereMs;
    const fromTag = everywhere ? 0 : bound.over(spanMs, now);
    // What came due is made ready within a poll, where there was not too much of it.
    // While a machine sleeps its own clock may stand still.
    const pausedMs = Date.now() - lookedAt;
    lookedAt = Date.now();
    const withinMs = everywhere || !promotedAll || pausedMs > slowMs / 2 ? null : slowMs;
    promotedAll = (await promoteDelayed(db, { withinMs, fromTag })) < promotedMax;
    if (!promotedAll) again = true;
    // Where no slot was free nothing was looked for: the next look is still due to go as far.
    if (!(await claim(fromTag))) return;
    spanMs = usualMs;
    if (everywhere) everywhereAt = now;
  }

  /** Whether runs of anyone were looked for, under a lease. */
  async function claim(fromTag: number): Promise<boolean> {
    const worker = parts.lease();
    if (worker === null) return false;
    const general = Math.min(claimMax, count.free);
    leftBehind = general === 0;
    let looked = false;
    if (general > 0) {
      const sentAt = performance.now();
      const runs = await holding(general, async () => {
        const claimed = await claimExecutions(db, worker, { limit: general, fromTag });
        if (claimed.lowestTag !== null) {
          bound.observe(claimed.lowestTag, sentAt);
          looked = true;
        }
        return claimed.executions;
      });
      leftBehind = runs.length === general;
      if (leftBehind) again = true;
    }
    const reserved = Math.min(claimMax, count.freeForOthers - count.free);
    if (count.free > 0 || reserved <= 0) return looked;
    const question = { held: count.holders(), limit: reserved, fromTag };
    const claimed = await holding(reserved, async () => {
      const runs = await claimForOtherWorkspaces(db, worker, { ...question, after: lastServed });
      if (runs.length === 0 && lastServed !== firstId) {
        return claimForOtherWorkspaces(db, worker, { ...question, after: firstId });
      }
      return runs;
    });
    lastServed = claimed.at(-1)?.workspaceId ?? firstId;
    return looked;
  }

  /** Keeps the slots while the claim is under way, then fills them. */
  async function holding(
    slots: number,
    claimThem: () => Promise<QueuedExecution[]>,
  ): Promise<QueuedExecution[]> {
    count.hold(slots);
    let runs: QueuedExecution[] = [];
    try {
      runs = await claimThem();
    } finally {
      count.unhold(slots);
    }
    for (const one of runs) count.add(one.workspaceId);
    for (const [index, one] of runs.entries()) {
      // The heartbeat must get its turn in between: on a busy machine the process would start them all, find that its
      // lease is as good as over, hand them all on, and claim them anew, without an end.
      if (index > 0 && index % startsInARow === 0) await immediate();
      parts.start(one);
    }
    return runs;
  }

  return {
    wake,
    wakeAfter(delayMs) {
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
