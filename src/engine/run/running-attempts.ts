import type { FreeBytes } from '../../core/byte-shares.ts';
import type { Ended } from '../../core/execution/outcome.ts';
import {
  nothingSpent,
  type QueuedExecution,
  unknownSpent,
} from '../../core/execution/queued-execution.ts';
import { claimedEnd, type Finisher } from '../complete/finish.ts';
import type { ClaimLoop } from './claim.ts';
import { type AttemptOutcome, type ExecuteDeps, executeAttempt, lostWorker } from './execute.ts';
import type { Lease } from './lease.ts';
import { type ReleaseQueue, releaseOf } from './release-queue.ts';
import type { SlotCount, SlotUse } from './slot-count.ts';
import { writeEnd } from './write-end.ts';

/** The pause before a retry when the database failed to deliver what an attempt needs. */
const unavailableRetryMs = 1_000;
/** At the end of a drain, for aborted calls and for executions whose commit has no response yet. */
const abortGraceMs = 3_000;
const ignoredClaimsMax = 10_000;

/** Why a call is aborted. It decides what happens to the execution, see `settle`. */
type AbortReason = 'canceled' | 'silence' | 'lost' | 'drain' | 'unavailable';

interface RunningAttempt {
  /** Each turn of a tool loop has the next fence. */
  execution: QueuedExecution;
  readonly controller: AbortController;
  /** The bytes of its prompt and answer. */
  readonly reservations: FreeBytes[];
}

export interface RunningAttemptsDeps {
  readonly execute: ExecuteDeps;
  readonly finisher: Finisher;
  readonly slots: SlotCount;
  readonly lease: Lease;
  readonly claims: Pick<ClaimLoop, 'slotFreed'>;
  readonly releases: ReleaseQueue;
  readonly onError: (error: unknown, operation: string) => void;
}

/** The attempts that run in this process. Each holds a slot and can be aborted; its outcome ends or releases the execution. */
export class RunningAttempts {
  readonly #deps: RunningAttemptsDeps;
  readonly #running = new Map<string, RunningAttempt>();
  readonly #ignoredClaims = new Set<string>();
  /** `aborting`: the time of a drain is over. `closed`: what starts now is released at once. */
  #phase: 'open' | 'aborting' | 'closed' = 'open';
  #resolveIdle = () => {};

  constructor(deps: RunningAttemptsDeps) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#running.size;
  }

  ids(): string[] {
    return [...this.#running.keys()];
  }

  /** Starts an attempt in a slot that it already holds. */
  start(execution: QueuedExecution): void {
    const { releases, lease, slots } = this.#deps;
    const closed = this.#phase === 'closed';
    // The response to the claim came so late that the reconciler has released the execution.
    if (closed || this.#ignoredClaims.delete(claimKey(execution))) {
      this.releaseSlot(execution);
      if (closed) void releases.release([releaseOf(execution)]);
      return;
    }
    const attempt = {
      execution,
      controller: new AbortController(),
      reservations: [] as FreeBytes[],
    };
    this.#running.set(execution.id, attempt);
    // The lease may have ended since the claim.
    if (lease.current() !== execution.worker) abort(attempt, 'silence');
    else if (this.#phase === 'aborting') abort(attempt, 'drain');
    let freeSlot = () => slots.release(execution);
    void this.#execute(attempt)
      .then((outcome) => {
        this.#free(() => {
          freeSlot = slots.finishCall(execution);
        });
        return this.#settle(attempt, outcome);
      })
      .finally(() => {
        // A later attempt of the same execution may have started here while this one was being written.
        if (this.#running.get(execution.id) === attempt) this.#running.delete(execution.id);
        this.#free(freeSlot);
        for (const free of attempt.reservations) free();
      });
  }

  /** Aborts the calls of canceled executions. Their end is already written. */
  cancel(executionIds: readonly string[]): void {
    for (const id of executionIds) {
      const attempt = this.#running.get(id);
      if (attempt) abort(attempt, 'canceled');
    }
  }

  /** With `lost`, aborts only attempts of earlier leases. */
  abortAll(reason: 'silence' | 'lost' | 'drain'): void {
    const current = this.#deps.lease.current();
    for (const attempt of this.#running.values()) {
      if (reason !== 'lost' || attempt.execution.worker !== current) abort(attempt, reason);
    }
  }

  /** Claims that the reconciler released: they must not start here any more. */
  ignoreClaims(claims: readonly Pick<QueuedExecution, 'id' | 'attempt'>[]): void {
    if (this.#ignoredClaims.size > ignoredClaimsMax) this.#ignoredClaims.clear();
    for (const claim of claims) this.#ignoredClaims.add(claimKey(claim));
  }

  releaseSlot(use: SlotUse): void {
    this.#free(() => this.#deps.slots.release(use));
  }

  /** Waits until nothing runs. Aborts all calls after `timeoutMs` and stops waiting `abortGraceMs` later. */
  async drain(timeoutMs: number): Promise<void> {
    const idle = new Promise<void>((resolve) => {
      this.#resolveIdle = resolve;
    });
    if (!this.#deps.slots.idle) {
      let timer = setTimeout(() => {
        this.#phase = 'aborting';
        this.abortAll('drain');
        timer = setTimeout(this.#resolveIdle, abortGraceMs);
      }, timeoutMs);
      await idle;
      clearTimeout(timer);
    }
    this.#phase = 'closed';
  }

  #free(release: () => void): void {
    const { slots, claims } = this.#deps;
    const { used, usedBytes } = slots;
    release();
    if (slots.used < used || slots.usedBytes < usedBytes) claims.slotFreed();
    if (slots.idle) this.#resolveIdle();
  }

  async #execute(attempt: RunningAttempt): Promise<AttemptOutcome> {
    const { execute, lease, onError } = this.#deps;
    const { execution, controller, reservations } = attempt;
    const { signal } = controller;
    const isHeld = () => this.#isHeld(execution);
    const advance = (next: QueuedExecution) => {
      attempt.execution = next;
    };
    const isOwned = () => lease.current() === execution.worker && !signal.aborted;
    try {
      return await executeAttempt(execute, execution, {
        ...{ signal, isOwned, isHeld, advance, reservations },
      });
    } catch (error) {
      // The database failed, not the execution: release it unchanged.
      onError(error, 'attempt processing');
      abort(attempt, 'unavailable');
      return { kind: 'stopped', sent: null };
    }
  }

  async #settle({ execution, controller }: RunningAttempt, outcome: AttemptOutcome): Promise<void> {
    const { releases } = this.#deps;
    if (outcome.kind === 'ended') return this.#writeEnd(execution, outcome);
    if (outcome.kind === 'retry') return releases.release([releaseOf(execution, outcome)]);
    const reason = controller.signal.reason as AbortReason;
    if (reason === 'canceled' || reason === 'lost') return;
    // At most once: a call that was sent is not sent again, not even by another process.
    const { sent, keptUsd = '0' } = outcome;
    if (sent && execution.settings.maxAttempts === 1) {
      return this.#writeEnd(execution, lostWorker(sent));
    }
    const spent = sent ? { ...unknownSpent, keptUsd } : nothingSpent;
    if (reason === 'drain') return releases.release([releaseOf(execution, { spent })]);
    if (reason === 'unavailable') {
      const delayMs = unavailableRetryMs;
      return releases.release([releaseOf(execution, { spent, delayMs })]);
    }
    releases.defer(releaseOf(execution, { spent }));
  }

  #writeEnd(execution: QueuedExecution, outcome: Ended): Promise<void> {
    const { finisher, onError } = this.#deps;
    const isHeld = () => this.#isHeld(execution);
    return writeEnd({ finisher, onError }, claimedEnd(execution, outcome), isHeld);
  }

  /** Whether its claim can be written for. */
  #isHeld({ worker }: QueuedExecution): boolean {
    return this.#phase !== 'closed' && this.#deps.lease.isCurrentClaim(worker);
  }
}

function abort({ controller }: RunningAttempt, reason: AbortReason): void {
  controller.abort(reason);
}

/** One claim of one execution. */
function claimKey({ id, attempt }: Pick<QueuedExecution, 'id' | 'attempt'>): string {
  return `${id} ${attempt}`;
}
