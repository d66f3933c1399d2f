import { tagBound } from '../../../core/execution/tag-bound.ts';
import { createWakeLoop } from '../../../core/wake-loop.ts';
import type { Db } from '../../../db/database.ts';
import type { Canceler } from '../../../engine/complete/cancel.ts';
import { listCanceledExecutions, listWaitingBatches } from '../statements/due-batches.ts';
import { type AdmitLinesDeps, admitLines } from './admit-lines.ts';

/**
 * Starts lines of batches in the free slots of this process, the batches in turn. Runs in every process with a worker.
 *
 * Wake-ups: an upload, the end of executions, and a poll every second, which also finds what waited for a limit and the
 * executions of canceled batches that still run. While no line waits, only every fifth poll reads the database.
 *
 * Invariants
 * - The database has all state: which lines wait, and for what. What this module remembers only delays a batch.
 * - Each batch gets a share of a transaction's lines, so a long batch does not delay a short one.
 * - `admitLines` locks the batch, so processes that start lines of the same batch take turns.
 *
 * Failure cases
 * - The process dies: lines in its open transaction keep waiting, and other processes start them. Executions that it had
 *   started are recovered like any other.
 * - A notification is lost, or a cancel is interrupted: a poll finds the batch.
 * - An admission fails: its batch is skipped for a while, so that it does not stop the others.
 */
export interface BatchRunner {
  /** Lines may be able to start. */
  wake(): void;
  /** Executions have ended, so that slots are free. */
  slotsFreed(): void;
  poll(): Promise<void>;
  /** Starts nothing more. Resolves once no admission is in progress. */
  stop(): Promise<void>;
}

export interface BatchRunnerDeps extends Omit<AdmitLinesDeps, 'bound'> {
  readonly db: Db;
  readonly canceler: Canceler;
  readonly onStarted: (lines: number) => void;
  readonly onError: (error: unknown) => void;
}

const batchesMax = 100;
/** Lines of one transaction, shared by the batches that are due. */
const linesMax = 200;
const linesMin = 10;
const canceledMax = 500;
/** A batch that found no free slot is tried again after this time at the earliest. */
const fullMs = 20;
/** A batch whose admission failed is skipped for this time. */
const failedMs = 2_000;
const idlePolls = 5;

export function createBatchRunner(deps: BatchRunnerDeps): BatchRunner {
  const { db, slots, onError } = deps;
  const bound = tagBound();
  /** Batches that found no free slot, and batches whose admission failed. */
  const full = new Skipped(fullMs);
  const failed = new Skipped(failedMs);
  let timer: NodeJS.Timeout | undefined;
  /** Whether lines wait for a slot. */
  let hasMore = false;
  /** No line waited at the last read. */
  let isIdle = false;
  let polls = 0;
  const rounds = createWakeLoop(startLines, onError);

  /** Repeats until no batch advances. */
  async function startLines(): Promise<void> {
    hasMore = false;
    /** Workspaces without a free slot. Their batches stay first in the list, and must not hide those behind them. */
    const fullWorkspaces = new Set<string>();
    for (let advanced = true; advanced && !rounds.stopped; ) {
      advanced = false;
      if (slots.lease() === null) return;
      const skipped = { except: failed.ids(), exceptWorkspaces: [...fullWorkspaces] };
      const waiting = await listWaitingBatches(db, { limit: batchesMax, ...skipped });
      isIdle = waiting.length === 0 && fullWorkspaces.size === 0;
      const due = waiting.filter(({ isDue }) => isDue);
      const share = Math.max(linesMin, Math.floor(linesMax / Math.max(1, due.length)));
      for (const batch of due) {
        if (rounds.stopped) return;
        if (!slots.hasFree(batch.workspaceId)) {
          if (waiting.length === batchesMax) advanced ||= !fullWorkspaces.has(batch.workspaceId);
          fullWorkspaces.add(batch.workspaceId);
          hasMore = true;
          continue;
        }
        if (full.has(batch.id)) {
          wakeLater();
          hasMore = true;
          continue;
        }
        const result = await admitLines({ ...deps, bound }, batch, share).catch(onError);
        if (!result) {
          failed.add(batch.id);
          // If the database is unavailable, the next list fails too; no batch is skipped.
          advanced = true;
          break;
        }
        deps.onStarted(result.started);
        if (result.hasMore) hasMore = true;
        if (result.advanced > 0) {
          advanced = true;
          // Slots may have become free meanwhile.
          fullWorkspaces.clear();
        } else if (result.hasMore) {
          full.add(batch.id);
          wakeLater();
        }
      }
    }
  }

  function wakeLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      rounds.wake();
    }, fullMs);
  }

  return {
    wake: rounds.wake,
    slotsFreed() {
      if (hasMore) rounds.wake();
    },
    async poll() {
      if (isIdle && ++polls % idlePolls !== 0) return;
      rounds.wake();
      const canceled = await listCanceledExecutions(db, canceledMax);
      if (canceled.length > 0) await deps.canceler.cancelAll(canceled);
      await rounds.settled();
    },
    async stop() {
      clearTimeout(timer);
      await rounds.stop();
    },
  };
}

/** Batches that are skipped for a while. */
class Skipped {
  readonly #ms: number;
  /** On the monotonic clock. */
  readonly #until = new Map<string, number>();

  constructor(ms: number) {
    this.#ms = ms;
  }

  add(id: string): void {
    this.#forget();
    this.#until.set(id, performance.now() + this.#ms);
  }

  has(id: string): boolean {
    return performance.now() < (this.#until.get(id) ?? 0);
  }

  ids(): string[] {
    this.#forget();
    return [...this.#until.keys()];
  }

  /** Those whose time is over. */
  #forget(): void {
    const now = performance.now();
    for (const [id, at] of this.#until) if (at <= now) this.#until.delete(id);
  }
}
