import { uuid7 } from '../core/id.ts';
import type { Pipelines } from '../store/connection/pipeline.ts';
import { heartbeat, registerWorker } from '../store/execution/workers.ts';

/**
 * The lease of this process: one row that every heartbeat renews. The lease is counted on our monotonic clock from
 * the moment a heartbeat is *sent*, so it ends here before it ends in the database.
 */
export interface Lease {
  /** The id under which runs may be claimed, or null while there is no sure lease. */
  current(): string | null;
  /** Whether the row under this id was still there when the database last answered: its runs are not another's. */
  holds(worker: string): boolean;
  /** How long the database has answered without a break, in milliseconds. */
  steadyMs(): number;
  /** Renews at once, for tests and for the first beat. */
  beat(): Promise<void>;
  stop(): void;
}

export interface LeaseDeps {
  /** A connection of its own, given up when it does not answer: nothing may keep a heartbeat waiting. */
  readonly pipelines: Pipelines;
  readonly leaseMs: number;
  /** Runs that were canceled: their calls are to be stopped. */
  readonly onExecutionCanceled: (executionIds: string[]) => void;
  /** No heartbeat for two thirds of the lease: all calls are to be stopped, nothing is to be written. */
  readonly onSilence: () => void;
  /** A heartbeat got through again, or for the first time; true where the row, and so every run, is still ours. */
  readonly onContact: (kept: boolean) => void;
  readonly onError: (error: unknown) => void;
  /** The first heartbeat that got through after one that did not. */
  readonly onAgain: () => void;
}

export function startLease(parts: LeaseDeps): Lease {
  const beatMs = parts.leaseMs / 3;
  const silenceMs = (parts.leaseMs * 2) / 3;
  let id: string | null = null;
  let sentAt = Number.NEGATIVE_INFINITY;
  let steadySince = Number.POSITIVE_INFINITY;
  let silent = true;
  let stopped = false;
  let failed = false;
  let beating: Promise<void> | null = null;
  let retry: NodeJS.Timeout | undefined;

  const beatTimer = setInterval(() => void beat(), beatMs);
  const watchTimer = setInterval(watch, parts.leaseMs / 20);

  function watch(): void {
    if (silent || performance.now() - sentAt < silenceMs) return;
    silent = true;
    steadySince = Number.POSITIVE_INFINITY;
    parts.onSilence();
  }

  function beat(): Promise<void> {
    // Or each beat that fails would leave one more that goes on beside those of the timer.
    clearTimeout(retry);
    beating ??= once().finally(() => {
      beating = null;
    });
    return beating;
  }

  async function once(): Promise<void> {
    const sent = performance.now();
    try {
      const canceled = await renew();
      const kept = canceled !== null;
      if (!kept) await register();
      if (stopped) return;
      // A process that was stopped itself may be late here: the watch decides by the time the beat was sent.
      sentAt = sent;
      if (failed) parts.onAgain();
      failed = false;
      if (silent || !kept) {
        silent = false;
        steadySince = sent;
        parts.onContact(kept);
      }
      if (canceled && canceled.length > 0) parts.onExecutionCanceled(canceled);
    } catch (error) {
      failed = true;
      parts.onError(error);
      // The next beat may come too late.
      if (!stopped) retry = setTimeout(() => void beat(), parts.leaseMs / 20).unref();
    }
  }

  async function renew(): Promise<string[] | null> {
    const mine = id;
    if (mine === null) return null;
    return parts.pipelines.use((send) => heartbeat(send, mine, parts.leaseMs));
  }

  async function register(): Promise<void> {
    // The id only has to be unique; its time decides nothing.
    const fresh = uuid7(Date.now());
    await parts.pipelines.use((send) => registerWorker(send, fresh, parts.leaseMs));
    id = fresh;
  }

  function current(): string | null {
    return silent || performance.now() - sentAt >= silenceMs ? null : id;
  }

  return {
    current,
    holds: (worker) => worker === id,
    beat,
    // Whoever was stopped itself may ask before the watch has looked.
    steadyMs: () => (current() === null ? 0 : Math.max(0, performance.now() - steadySince)),
    stop() {
      stopped = true;
      clearInterval(beatTimer);
      clearInterval(watchTimer);
      clearTimeout(retry);
    },
  };
}
