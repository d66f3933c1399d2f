import {
  nothingSpent,
  type QueuedExecution,
  type Slots,
  unknownSpent,
} from '../core/execution/queued-execution.ts';
import {
  type Attempt,
  type ExecuteDeps,
  executeAttempt,
  givenUp,
} from '../flow/execution/execute.ts';
import type { End, Finisher } from '../flow/execution/finish.ts';
import type { Db } from '../store/connection/database.ts';
import type { Pipelines } from '../store/connection/pipeline.ts';
import { leasedExecutions, type Release, releaseExecutions } from '../store/execution/queue.ts';
import { removeWorker } from '../store/execution/workers.ts';
import { claimLoop } from './claim.ts';
import { startLease } from './lease.ts';
import { slotCount } from './slot-count.ts';
import { writeEnd } from './write-end.ts';

/**
 * The working half of a process: it claims runs under its lease, carries them out and ends them. Whatever stops a
 * call (cancel, silence of the database, drain) goes through the run's abort signal, and its reason says what follows.
 */
export interface Worker {
  readonly slots: Slots;
  /** Begins to claim; resolves once the first lease is held or has been tried for. */
  start(): Promise<void>;
  /** Something may be ready. */
  wake(): void;
  /** Stops the calls of these runs, if they are here. */
  cancel(executionIds: readonly string[]): void;
  /**
   * Takes nothing new, gives the runs so long to end, hands the rest on, and takes the process out of the list. Runs that
   * are just being accepted are waited for as well, and a little longer.
   */
  drain(timeoutMs: number): Promise<void>;
  readonly running: number;
}

export interface WorkerDeps extends ExecuteDeps {
  readonly db: Db;
  readonly leasePipelines: Pipelines;
  readonly finisher: Finisher;
  readonly slots: number;
  readonly leaseMs: number;
  /** The database has not been heard of for so long that the calls are given up. */
  readonly onSilence: () => void;
  /** Heartbeats get through again after some that did not. */
  readonly onAgain: () => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** What a database that did not tell what a run needs is given before it is asked again. */
const unreadMs = 1_000;
/** What aborted calls, and runs whose acceptance has not been answered, get at the end of a drain. */
const unheardMs = 3_000;
/** In one statement, which has little time. */
const releasedMax = 1_000;
const handedOnMax = 10_000;

type Reason = 'canceled' | 'silence' | 'lost' | 'drain' | 'unread';

interface Work {
  readonly run: QueuedExecution;
  readonly controller: AbortController;
}

export function createWorker(parts: WorkerDeps): Worker {
  const count = slotCount(parts.slots);
  const working = new Map<string, Work>();
  const waitingForContact: Release[] = [];
  let suspects = new Set<string>();
  /** Claims of runs that were never begun here. */
  const handedOn = new Set<string>();
  let draining = false;
  /** The time that runs had to end is over. */
  let drainOver = false;
  /** All is handed on: what comes now is not begun here any more. */
  let closed = false;
  let drained = () => {};

  const lease = startLease({
    pipelines: parts.leasePipelines,
    leaseMs: parts.leaseMs,
    onExecutionCanceled: cancel,
    onSilence: () => {
      stopAll('silence');
      parts.onSilence();
    },
    onContact: (kept) => {
      const releases = waitingForContact.splice(0);
      if (kept) giveBack(releases);
      else stopAll('lost');
      claims.wake();
    },
    onError: (error) => parts.onError(error, 'heartbeat'),
    onAgain: parts.onAgain,
  });

  const claims = claimLoop({
    db: parts.db,
    count,
    leaseMs: parts.leaseMs,
    onError: parts.onError,
    lease: () => (draining ? null : lease.current()),
    steadyMs: lease.steadyMs,
    start,
  });
  const reconcileTimer = setInterval(() => void reconcile(), parts.leaseMs * 2);
  const returnTimer = setInterval(() => {
    if (lease.current() !== null) void giveBack(waitingForContact.splice(0));
  }, parts.leaseMs / 3);

  function start(run: QueuedExecution): void {
    // Its commit was answered so late that the run is another's by now, or nobody's.
    if (closed || handedOn.delete(claimOf(run))) {
      freeSlot(run.workspaceId);
      if (closed) void giveBack([unchanged(run)]);
      return;
    }
    const work = { run, controller: new AbortController() };
    working.set(run.id, work);
    // The lease may have ended since the run was claimed or born: then it must not begin.
    if (lease.current() !== run.worker) work.controller.abort('silence' satisfies Reason);
    else if (drainOver) work.controller.abort('drain' satisfies Reason);
    let leave = () => count.giveBack(run.workspaceId);
    void executeAttempt(parts, run, work.controller.signal)
      .catch((error: unknown): Attempt => {
        // The database failed, not the run: hand it on as it is.
        parts.onError(error, 'run');
        work.controller.abort('unread' satisfies Reason);
        return { kind: 'stopped', sent: null };
      })
      .then((attempt) => {
        free(() => {
          leave = count.callOver(run.workspaceId);
        });
        return settle(work, attempt);
      })
      .finally(() => {
        // A later attempt of the same run may have begun here while this one was still being written.
        if (working.get(run.id) === work) working.delete(run.id);
        free(leave);
      });
  }

  function free(leave: () => void): void {
    const { used } = count;
    leave();
    if (count.used < used) claims.freed();
    if (count.idle) drained();
  }

  function freeSlot(workspaceId: string): void {
    free(() => count.giveBack(workspaceId));
  }

  async function settle({ run, controller }: Work, attempt: Attempt): Promise<void> {
    const release = unchanged(run);
    if (attempt.kind === 'end') return finish(run, attempt.end);
    if (attempt.kind === 'retry') {
      const { delayMs, spent } = attempt;
      return giveBack([{ ...release, delayMs, spent, failed: true }]);
    }
    if (attempt.kind === 'deferred') {
      const { delayMs, unstarted } = attempt;
      return giveBack([{ ...release, delayMs, unstarted }]);
    }
    const reason = controller.signal.reason as Reason;
    if (reason === 'canceled' || reason === 'lost') return;
    // At most once means that a call that was begun is not begun anew, by nobody.
    const { sent } = attempt;
    if (sent && run.settings.maxAttempts === 1) return finish(run, givenUp(run, sent));
    const handedOn = { ...release, spent: sent ? unknownSpent : nothingSpent };
    if (reason === 'drain') return giveBack([handedOn]);
    if (reason === 'unread') return giveBack([{ ...handedOn, delayMs: unreadMs }]);
    waitingForContact.push(handedOn);
  }

  function finish(run: QueuedExecution, end: End): Promise<void> {
    return writeEnd(parts, end, () => !closed && lease.holds(run.worker));
  }

  async function giveBack(releases: readonly Release[]): Promise<void> {
    if (releases.length === 0) return;
    try {
      while (releases.length > 0) {
        await releaseExecutions(parts.db, releases.slice(0, releasedMax));
        for (const { delayMs } of releases.slice(0, releasedMax)) claims.wakeAfter(delayMs);
        releases = releases.slice(releasedMax);
      }
    } catch (error) {
      parts.onError(error, 'release');
      // Tried again with the next contact; should the lease end before, the sweep of another process sees to them.
      waitingForContact.push(...releases);
    }
  }

  function cancel(executionIds: readonly string[]): void {
    for (const id of executionIds) working.get(id)?.controller.abort('canceled' satisfies Reason);
  }

  function stopAll(reason: Reason): void {
    const mine = lease.current();
    for (const { run, controller } of working.values()) {
      if (reason !== 'lost' || run.worker !== mine) controller.abort(reason);
    }
  }

  /**
   * Runs that are leased to this process but not known to it: an answer to a claim or a commit was lost on the way.
   * Seen twice in a row they are handed on, and not begun here any more should that answer still come.
   */
  async function reconcile(): Promise<void> {
    const worker = lease.current();
    if (worker === null) return;
    try {
      const leased = await leasedExecutions(parts.db, worker);
      // What came of some could not be written yet, and is more than that they were never begun.
      const known = new Set([...working.keys(), ...waitingForContact.map(({ id }) => id)]);
      const unknown = leased.filter(({ id }) => !known.has(id));
      const twice = unknown.filter(({ id }) => suspects.has(id));
      suspects = new Set(unknown.map(({ id }) => id));
      if (handedOn.size > handedOnMax) handedOn.clear();
      for (const run of twice) handedOn.add(claimOf(run));
      await giveBack(twice.map((run) => unchanged({ ...run, worker })));
    } catch (error) {
      parts.onError(error, 'reconcile');
    }
  }

  async function drain(timeoutMs: number): Promise<void> {
    draining = true;
    // First of all: a claim under way would start runs that nobody waits for.
    await claims.stop();
    const over = new Promise<void>((resolve) => {
      drained = resolve;
    });
    if (!count.idle) {
      let timer = setTimeout(() => {
        drainOver = true;
        stopAll('drain');
        timer = setTimeout(drained, unheardMs);
      }, timeoutMs);
      await over;
      clearTimeout(timer);
    }
    closed = true;
    await giveBack(waitingForContact.splice(0));
    // What became of their calls could not be written: they are not to be taken for runs never begun.
    const unwritten = new Set([...working.keys(), ...waitingForContact.map(({ id }) => id)]);
    clearInterval(reconcileTimer);
    clearInterval(returnTimer);
    const worker = lease.current();
    lease.stop();
    if (worker === null) return;
    try {
      const left = (await leasedExecutions(parts.db, worker)).filter(
        ({ id }) => !unwritten.has(id),
      );
      await releaseExecutions(
        parts.db,
        left.map((run) => unchanged({ ...run, worker })),
      );
      await removeWorker(parts.db, worker);
    } catch (error) {
      parts.onError(error, 'drain');
    }
  }

  return {
    slots: {
      lease: () => (draining ? null : lease.current()),
      reserve: (workspaceId) => !draining && count.take(workspaceId),
      release: freeSlot,
      start,
    },
    async start() {
      await lease.beat();
      claims.wake();
    },
    wake: claims.wake,
    cancel,
    drain,
    get running() {
      return working.size;
    },
  };
}

function claimOf({ id, attempt }: Pick<QueuedExecution, 'id' | 'attempt'>): string {
  return `${id} ${attempt}`;
}

/** A run that is given back as it was taken. */
function unchanged({
  id,
  worker,
  attempt,
}: Pick<QueuedExecution, 'id' | 'worker' | 'attempt'>): Release {
  const unspent = { failed: false, unstarted: false, spent: nothingSpent };
  return { id, worker, attempt, delayMs: 0, ...unspent };
}
