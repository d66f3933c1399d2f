import { tagBound } from '../../core/execution/tag-bound.ts';
import { createWakeLoop } from '../../core/wake-loop.ts';
import { listCanceledExecutions, listWaitingBatches } from '../../store/batch/due-batches.ts';
import type { Db } from '../../store/connection/database.ts';
import type { Canceler } from '../execution/cancel.ts';
import { type AdmitLinesDeps, admitLines } from './admit-lines.ts';

/**
 * Starts lines of batches in the free slots of this process, the batches in turn. Runs in every process with a worker.
 *
 * Wake-ups: an upload, the end of executions, and a poll every second, which also finds what waited for a limit and the
 * executions of canceled batches that still run. While no line waits, only every fifth poll looks: it finds uploads whose
 * notification was lost, and batches whose cancel was interrupted.
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
/** A batch that found no free slot looks again after this time at the earliest. */
const fullMs = 20;
/** A batch whose admission failed is left aside for this time, so that it does not stop the others. */
const failedMs = 2_000;
const idlePolls = 5;

export function createBatchRunner(deps: BatchRunnerDeps): BatchRunner {
  const { db, slots, onError } = deps;
  const bound = tagBound();
  /** When batches that found no free slot may look again, on the monotonic clock. */
  const fullUntil = new Map<string, number>();
  /** The same for batches whose admission failed. */
  const failedUntil = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  /** Whether lines wait for a slot. */
  let hasMore = false;
  /** No line waited at the last look. */
  let isIdle = false;
  let polls = 0;
  const rounds = createWakeLoop(startLines, onError);

  /** Repeats until no batch advances. */
  async function startLines(): Promise<void> {
    for (let advanced = true; advanced && !rounds.stopped; ) {
      advanced = false;
      hasMore = false;
      if (slots.lease() === null) return;
      const waiting = await listWaitingBatches(db, {
        limit: batchesMax,
        except: current(failedUntil),
      });
      isIdle = waiting.length === 0;
      const due = waiting.filter(({ isDue }) => isDue);
      const share = Math.max(linesMin, Math.floor(linesMax / Math.max(1, due.length)));
      for (const batch of due) {
        if (rounds.stopped) return;
        if (!mayStart(batch)) {
          hasMore = true;
          continue;
        }
        const result = await admitLines({ ...deps, bound }, batch, share).catch(onError);
        if (!result) {
          failedUntil.set(batch.id, performance.now() + failedMs);
          // If the database is away, the next list fails too, and the other batches are not left aside.
          advanced = true;
          break;
        }
        deps.onStarted(result.started);
        if (result.hasMore) hasMore = true;
        if (result.advanced > 0) advanced = true;
        else if (result.hasMore) fullUntil.set(batch.id, performance.now() + fullMs);
      }
    }
  }

  /** Asks memory before the database. */
  function mayStart({ id, workspaceId }: { readonly id: string; readonly workspaceId: string }) {
    const until = fullUntil.get(id) ?? 0;
    if (performance.now() < until) {
      wakeLater();
      return false;
    }
    fullUntil.delete(id);
    return slots.hasFree(workspaceId);
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
      polls++;
      if (isIdle && polls % idlePolls !== 0) return;
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

/** Forgets the batches whose time is over, and returns the others. */
function current(until: Map<string, number>): string[] {
  const now = performance.now();
  for (const [id, at] of until) if (at <= now) until.delete(id);
  return [...until.keys()];
}
