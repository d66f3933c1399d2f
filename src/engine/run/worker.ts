import type { Slots } from '../../core/execution/queued-execution.ts';
import type { Db } from '../../db/database.ts';
import type { Pipelines } from '../../db/pipeline.ts';
import type { Finisher } from '../complete/finish.ts';
import { ClaimLoop } from './claim.ts';
import type { ExecuteDeps } from './execute.ts';
import { startLease } from './lease.ts';
import { leasedExecutions, releaseExecutions } from './queue.ts';
import { Reconciler, type ReconcilerDeps } from './reconciler.ts';
import { ReleaseQueue, releaseOf } from './release-queue.ts';
import { RunningAttempts } from './running-attempts.ts';
import { slotCount } from './slot-count.ts';
import { removeWorker } from './workers.ts';

/**
 * The worker of a process: it claims executions under its lease, runs one attempt of each and ends or releases them.
 *
 * Parts: `Lease` renews the row of this process, `ClaimLoop` claims, `RunningAttempts` runs and settles attempts,
 * `ReleaseQueue` returns executions to the queue, `Reconciler` finds claims whose response was lost.
 *
 * States of a claimed execution here: running, call finished (the end is being written), pending release (the database
 * did not take the release yet), gone.
 *
 * Invariants:
 * - Every write specifies the fence `(worker, attempt)`. A write that matches no row means that ownership is lost.
 * - A call runs only while `lease.current()` equals the worker id of its claim. Silence of the database for two thirds
 *   of the lease aborts all calls, and the process writes nothing until contact returns.
 * - Nothing that this process knows about is reported as unstarted, neither by the reconciler nor by the drain.
 *
 * Failure cases: a failed end is retried until it is written or the lease row is gone (`write-end.ts`). A failed release
 * waits for the next contact. If the process dies, another one removes its row and frees its executions.
 */
export interface Worker {
  readonly slots: Slots;
  /** Starts to claim. Resolves once the process holds its first lease or has tried to get it. */
  start(): Promise<void>;
  /** Something may be ready. */
  wake(): void;
  /** Aborts the calls of those executions that run here. */
  cancel(executionIds: readonly string[]): void;
  /**
   * Claims nothing new, waits up to `timeoutMs` for running attempts, releases the rest and removes the lease row.
   * Aborted calls and executions that are being accepted get a few seconds more.
   */
  drain(timeoutMs: number): Promise<void>;
  readonly running: number;
  /** The bytes of the inputs of running executions. */
  readonly inputBytes: number;
}

export interface WorkerDeps {
  readonly execute: ExecuteDeps;
  readonly db: Db;
  readonly leasePipelines: Pipelines;
  readonly finisher: Finisher;
  readonly slots: number;
  /** The memory for inputs of running executions. */
  readonly inputBytes: number;
  readonly leaseMs: number;
  /** The database has been silent for so long that all calls were aborted. */
  readonly onSilence: () => void;
  /** A heartbeat succeeded after some that failed. */
  readonly onRecovery: () => void;
  readonly onError: (error: unknown, operation: string) => void;
}

export function createWorker(deps: WorkerDeps): Worker {
  const { db, execute, finisher, leaseMs, onError } = deps;
  const slots = slotCount(deps.slots, deps.inputBytes);
  let draining = false;
  const leaseForNew = () => (draining ? null : lease.current());
  const lease = startLease({
    ...{ pipelines: deps.leasePipelines, leaseMs, onRecovery: deps.onRecovery },
    onExecutionCanceled: (executionIds) => attempts.cancel(executionIds),
    onSilence() {
      attempts.abortAll('silence');
      deps.onSilence();
    },
    onContact(isSameLease) {
      if (isSameLease) void releases.retry();
      else {
        releases.discard();
        attempts.abortAll('lost');
      }
      claims.wake();
    },
    onError: (error) => onError(error, 'heartbeat'),
  });
  const claims = new ClaimLoop({
    ...{ db, slots, leaseMs, onError, lease: leaseForNew, steadyMs: lease.steadyMs },
    start: (execution) => attempts.start(execution),
  });
  const releases = new ReleaseQueue({ db, claims, onError });
  const attempts = new RunningAttempts({
    ...{ execute, finisher, slots, lease, claims, releases, onError },
  });
  const reconciler = new Reconciler({ db, lease, attempts, releases, onError });
  const timers = [
    setInterval(() => void reconciler.reconcile(), leaseMs * 2),
    setInterval(() => {
      if (lease.current() !== null) void releases.retry();
    }, leaseMs / 3),
  ];

  return {
    slots: {
      lease: leaseForNew,
      reserve: (workspaceId, inputBytes) => !draining && slots.acquire({ workspaceId, inputBytes }),
      hasFree: (workspaceId) => !draining && slots.mayAcquire({ workspaceId, inputBytes: 1 }),
      holds: slots.holds,
      release: (execution) => attempts.releaseSlot(execution),
      start: (execution) => attempts.start(execution),
    },
    async start() {
      await lease.beat();
      claims.wake();
    },
    wake: () => claims.wake(),
    cancel: (executionIds) => attempts.cancel(executionIds),
    async drain(timeoutMs) {
      draining = true;
      // First: a claim in progress would start attempts that the drain does not wait for.
      await claims.stop();
      await attempts.drain(timeoutMs);
      await releases.retry();
      for (const timer of timers) clearInterval(timer);
      await giveUpLease({ db, lease, attempts, releases, onError });
    },
    get running() {
      return attempts.count;
    },
    get inputBytes() {
      return slots.usedBytes;
    },
  };
}

/** Releases what is still leased to this process, then removes its row. */
async function giveUpLease({ db, lease, attempts, releases, onError }: ReconcilerDeps) {
  // These ended or failed here, but the database did not take the result. They must not be released as unstarted.
  const unwritten = new Set([...attempts.ids(), ...releases.ids()]);
  const worker = lease.current();
  lease.stop();
  if (worker === null) return;
  try {
    const leased = await leasedExecutions(db, worker);
    const unstarted = leased.filter(({ id }) => !unwritten.has(id));
    await releaseExecutions(
      db,
      unstarted.map((execution) => releaseOf({ ...execution, worker })),
    );
    await removeWorker(db, worker);
  } catch (error) {
    onError(error, 'drain');
  }
}
