import { setImmediate as immediate } from 'node:timers/promises';
import type { QueuedExecution } from '../../core/execution/queued-execution.ts';
import { tagBound } from '../../core/execution/tag-bound.ts';
import type { Db } from '../../db/database.ts';
import { claimExecutions, claimForOtherWorkspaces, promoteDelayed, promotedMax } from './queue.ts';
import type { SlotCount } from './slot-count.ts';
import { sweepWorkers } from './workers.ts';

/**
 * The claim loop: moves ready executions from the queue to this process.
 *
 * Each round removes expired workers (at most every third of a lease), promotes delayed executions that are due, claims
 * for the general slots in tag order, and then claims for the reserved slots in workspace order. Only one round runs at
 * a time; a wake-up during a round starts another one after it.
 *
 * Wake-ups: a notification, a freed slot, the end of a delay, and a poll every second. Notifications can be lost, so
 * the poll guarantees progress.
 *
 * A round reads only tags above a bound (`tagBound`), because dead index entries below it are expensive to skip. The
 * bound covers transactions that take up to `usualTransactionMs`; a poll covers `slowTransactionMs`; once a minute, and
 * after an error, a round reads the whole queue.
 *
 * Invariants: slots and bytes are reserved before the claim is sent, so claims for general slots never exceed
 * them, except by one input. A round without a lease claims
 * nothing. Expired workers are removed only after this process has held its lease for a full lease duration: after a
 * database start, the others need that time to renew.
 */
export interface ClaimLoopDeps {
  readonly db: Db;
  readonly slots: SlotCount;
  readonly leaseMs: number;
  /** The lease to claim under; null while the process must not claim. */
  readonly lease: () => string | null;
  /** How long the lease has been held without interruption. */
  readonly steadyMs: () => number;
  readonly start: (execution: QueuedExecution) => void;
  readonly onError: (error: unknown, operation: string) => void;
}

const pollMs = 1_000;
const usualTransactionMs = 2_000;
const slowTransactionMs = 20_000;
const fullScanEveryMs = 60_000;
const claimMax = 250;
/** Attempts that start before the event loop runs other work. */
const startsPerTurn = 10;
const lowestId = '00000000-0000-0000-0000-000000000000';

export class ClaimLoop {
  readonly #deps: ClaimLoopDeps;
  readonly #bound = tagBound();
  readonly #delayTimers = new Set<NodeJS.Timeout>();
  #pollTimer: NodeJS.Timeout | undefined;
  #round: Promise<void> | null = null;
  #wakePending = false;
  #stopped = false;
  /** Whether the last claim left executions in the queue, or found no free slot. */
  #leftBehind = true;
  /** The workspace that a claim for reserved slots served last: the next one continues after it. */
  #lastServed = lowestId;
  #sweptAt = Number.NEGATIVE_INFINITY;
  #fullScanAt = Number.NEGATIVE_INFINITY;
  #spanMs = slowTransactionMs;
  /** Wall-clock time of the last round. */
  #roundAt = 0;
  #promotedAll = false;

  constructor(deps: ClaimLoopDeps) {
    this.#deps = deps;
    this.#schedulePoll();
  }

  wake(): void {
    this.#wakePending = true;
    if (this.#stopped) return;
    this.#round ??= this.#runRounds();
  }

  wakeAfter(delayMs: number): void {
    if (delayMs === 0) {
      this.wake();
      return;
    }
    const timer = setTimeout(() => {
      this.#delayTimers.delete(timer);
      this.wake();
    }, delayMs);
    this.#delayTimers.add(timer);
  }

  /** Claims only if the last claim left something behind. */
  slotFreed(): void {
    if (this.#leftBehind) this.wake();
  }

  /** Resolves once no round is in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#pollTimer);
    for (const timer of this.#delayTimers) clearTimeout(timer);
    await this.#round;
  }

  #schedulePoll(): void {
    this.#pollTimer = setTimeout(
      () => {
        this.#spanMs = slowTransactionMs;
        this.wake();
        this.#schedulePoll();
      },
      pollMs * (0.8 + Math.random() * 0.4),
    );
  }

  async #runRounds(): Promise<void> {
    try {
      while (this.#wakePending && !this.#stopped) {
        this.#wakePending = false;
        await this.#sweepWorkers();
        await this.#promoteAndClaim();
      }
    } catch (error) {
      // A statement without a response may have left anything behind: read the whole queue next time.
      this.#fullScanAt = Number.NEGATIVE_INFINITY;
      this.#deps.onError(error, 'claim');
    } finally {
      // Here, not after the promise settles: a wake-up between the two would be missed.
      this.#round = null;
    }
  }

  async #sweepWorkers(): Promise<void> {
    const { db, leaseMs, lease, steadyMs } = this.#deps;
    if (performance.now() - this.#sweptAt < leaseMs / 3) return;
    const worker = lease();
    if (worker === null || steadyMs() < leaseMs) return;
    this.#sweptAt = performance.now();
    await sweepWorkers(db, worker, leaseMs);
  }

  async #promoteAndClaim(): Promise<void> {
    const now = performance.now();
    const isFullScan = now - this.#fullScanAt > fullScanEveryMs;
    const fromTag = isFullScan ? 0 : this.#bound.over(this.#spanMs, now);
    // A wall-clock gap: while a machine sleeps, its monotonic clock may stop.
    const pausedMs = Date.now() - this.#roundAt;
    this.#roundAt = Date.now();
    // Each poll promotes what is due, so later rounds only need the recent past.
    const isRecent = !isFullScan && this.#promotedAll && pausedMs <= slowTransactionMs / 2;
    const withinMs = isRecent ? slowTransactionMs : null;
    this.#promotedAll = (await promoteDelayed(this.#deps.db, { withinMs, fromTag })) < promotedMax;
    if (!this.#promotedAll) this.#wakePending = true;
    // Without a free slot nothing was read, so the next round must read as far.
    if (!(await this.#claim(fromTag))) return;
    this.#spanMs = usualTransactionMs;
    if (isFullScan) this.#fullScanAt = now;
  }

  /** Whether the queue was read for all workspaces. */
  async #claim(fromTag: number): Promise<boolean> {
    const worker = this.#deps.lease();
    if (worker === null) return false;
    const wasRead = await this.#claimGeneral(worker, fromTag);
    await this.#claimReserved(worker, fromTag);
    return wasRead;
  }

  async #claimGeneral(worker: string, fromTag: number): Promise<boolean> {
    const { db, slots } = this.#deps;
    const limit = Math.min(claimMax, slots.free);
    // In proportion, so that what is accepted meanwhile finds room.
    const bytesMax = Math.ceil((slots.freeBytes * limit) / Math.max(1, slots.free));
    this.#leftBehind = limit === 0;
    if (limit === 0) return false;
    let wasRead = false;
    const sentAt = performance.now();
    const claimed = await this.#fillSlots({ limit, bytesMax }, async () => {
      const request = { limit, bytesMax, fromTag };
      const { executions, lowestTag } = await claimExecutions(db, worker, request);
      if (lowestTag !== null) {
        this.#bound.observe(lowestTag, sentAt);
        wasRead = true;
      }
      return executions;
    });
    const bytes = claimed.reduce((sum, { inputBytes }) => sum + inputBytes, 0);
    this.#leftBehind = claimed.length === limit || bytes >= bytesMax;
    if (this.#leftBehind) this.#wakePending = true;
    return wasRead;
  }

  /** For workspaces that hold no slot here, in turn. */
  async #claimReserved(worker: string, fromTag: number): Promise<void> {
    const { db, slots } = this.#deps;
    const limit = Math.min(claimMax, slots.freeForOthers - slots.free);
    if (slots.free > 0 || limit <= 0) return;
    const { bytesMax } = slots;
    const request = { excluded: slots.workspaceIds(), limit, bytesMax, fromTag };
    const claimed = await this.#fillSlots({ limit, bytesMax: 0 }, async () => {
      const after = this.#lastServed;
      const executions = await claimForOtherWorkspaces(db, worker, { ...request, after });
      if (executions.length > 0 || after === lowestId) return executions;
      return claimForOtherWorkspaces(db, worker, { ...request, after: lowestId });
    });
    this.#lastServed = claimed.at(-1)?.workspaceId ?? lowestId;
  }

  /** Reserves slots during the claim, then starts what it returned. */
  async #fillSlots(
    { limit, bytesMax }: { limit: number; bytesMax: number },
    claim: () => Promise<QueuedExecution[]>,
  ): Promise<QueuedExecution[]> {
    const { slots, start } = this.#deps;
    slots.reserve(limit, bytesMax);
    let claimed: QueuedExecution[] = [];
    try {
      claimed = await claim();
    } finally {
      slots.unreserve(limit, bytesMax);
    }
    for (const execution of claimed) slots.add(execution);
    for (const [index, execution] of claimed.entries()) {
      // Heartbeats must run in between. Otherwise a busy process would start all, miss its lease, release all and
      // claim them again, forever.
      if (index > 0 && index % startsPerTurn === 0) await immediate();
      start(execution);
    }
    return claimed;
  }
}
