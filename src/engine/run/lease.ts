import { uuid7 } from '../../core/id.ts';
import type { Pipelines } from '../../db/pipeline.ts';
import { heartbeat, registerWorker } from './workers.ts';

/**
 * The lease of this process: one row in `workers` that covers everything the process has claimed.
 *
 * States: current (heartbeats succeed), silent (no successful heartbeat for two thirds of the lease), lost (the row is
 * gone; the next heartbeat registers a new id).
 *
 * Invariants:
 * - The duration counts on the monotonic clock from the moment a heartbeat is *sent*. It therefore ends here before it
 *   ends in the database.
 * - `current()` is null from two thirds of the duration on. The caller then aborts its calls and writes nothing, so
 *   another process can take over without overlap.
 * - An id is never reused after its row is gone. Writes under the old id match no row.
 *
 * Failure cases: a failed heartbeat is retried every twentieth of the lease. A paused process detects its silence
 * either in `watch` or in `current()`, whichever runs first.
 */
export interface Lease {
  /** The id to claim under; null while the lease is not certain. */
  current(): string | null;
  /** Whether the row with this id existed at the last response: no other process owns its executions. */
  isCurrentClaim(worker: string): boolean;
  /** How long heartbeats have succeeded without interruption, in milliseconds. */
  steadyMs(): number;
  /** Renews at once. */
  beat(): Promise<void>;
  stop(): void;
}

export interface LeaseDeps {
  /** A separate connection with a short timeout: nothing may delay a heartbeat. */
  readonly pipelines: Pipelines;
  readonly leaseMs: number;
  /** The calls of these executions must be aborted. */
  readonly onExecutionCanceled: (executionIds: string[]) => void;
  /** The lease became silent: abort all calls, write nothing. */
  readonly onSilence: () => void;
  /** The first successful heartbeat, and the first after a silence. False if the row, and so every claim, is lost. */
  readonly onContact: (isSameLease: boolean) => void;
  readonly onError: (error: unknown) => void;
  /** The first successful heartbeat after a failed one. */
  readonly onRecovery: () => void;
}

export function startLease(deps: LeaseDeps): Lease {
  const { leaseMs } = deps;
  const silenceMs = (leaseMs * 2) / 3;
  const retryMs = leaseMs / 20;
  let id: string | null = null;
  let sentAt = Number.NEGATIVE_INFINITY;
  let steadySince = Number.POSITIVE_INFINITY;
  let silent = true;
  let stopped = false;
  let failed = false;
  let beating: Promise<void> | null = null;
  let retry: NodeJS.Timeout | undefined;

  const beatTimer = setInterval(() => void beat(), leaseMs / 3);
  const watchTimer = setInterval(watch, leaseMs / 20);

  function watch(): void {
    if (silent || performance.now() - sentAt < silenceMs) return;
    silent = true;
    steadySince = Number.POSITIVE_INFINITY;
    deps.onSilence();
  }

  function beat(): Promise<void> {
    // Otherwise each failed beat would add a retry chain beside the timer.
    clearTimeout(retry);
    beating ??= once().finally(() => {
      beating = null;
    });
    return beating;
  }

  async function once(): Promise<void> {
    const sent = performance.now();
    try {
      const canceled = id === null ? null : await renew(deps, id);
      const isSameLease = canceled !== null;
      if (!isSameLease) id = await register(deps);
      if (stopped) return;
      // A paused process may read the response late. `watch` decides by the time the beat was sent.
      sentAt = sent;
      if (failed) deps.onRecovery();
      failed = false;
      if (silent || !isSameLease) {
        silent = false;
        steadySince = sent;
        deps.onContact(isSameLease);
      }
      if (canceled && canceled.length > 0) deps.onExecutionCanceled(canceled);
    } catch (error) {
      failed = true;
      deps.onError(error);
      // The next regular beat may come too late.
      if (!stopped) retry = setTimeout(() => void beat(), retryMs).unref();
    }
  }

  function current(): string | null {
    return silent || performance.now() - sentAt >= silenceMs ? null : id;
  }

  return {
    current,
    isCurrentClaim: (worker) => worker === id,
    beat,
    // After a pause, a caller may ask before `watch` has run.
    steadyMs: () => (current() === null ? 0 : Math.max(0, performance.now() - steadySince)),
    stop() {
      stopped = true;
      clearInterval(beatTimer);
      clearInterval(watchTimer);
      clearTimeout(retry);
    },
  };
}

/** The canceled executions, or null if the row is gone. */
async function renew({ pipelines, leaseMs }: LeaseDeps, id: string): Promise<string[] | null> {
  return pipelines.use((send) => heartbeat(send, id, leaseMs));
}

async function register({ pipelines, leaseMs }: LeaseDeps): Promise<string> {
  // The id must be unique. Its timestamp has no meaning.
  const id = uuid7(Date.now());
  await pipelines.use((send) => registerWorker(send, id, leaseMs));
  return id;
}
