import type { ExecutionErrorCode } from '../../core/failure.ts';
import {
  type Breaker,
  closedBreaker,
  type Entry,
  enter,
  leave,
  type Outcome,
} from '../../core/model/breaker.ts';
import { ModelDeferred } from '../../core/model/model-port.ts';
import { FairQueue } from './fair-queue.ts';

/** What a gate must know of a call. */
export interface GatedCall {
  readonly workspaceId: string;
  /** The time until the deadline of the execution, in milliseconds. */
  readonly leftMs: number;
  readonly signal: AbortSignal;
}

/** Short, because the waiting call occupies a slot; longer than most gaps between two calls. */
const waitMs = 1_000;
/** A single repeated call is deferred at most this often in two minutes in which no call ends. */
const fewMax = 60;

/**
 * Admits calls as a circuit breaker and a maximum of concurrent calls allow. A call without room waits briefly in a fair
 * queue over workspaces. After that, or at once if the breaker is open, it is deferred: its execution returns to the
 * queue and frees its slot.
 */
export class Gate {
  readonly provider: string;
  readonly #callsMax: number;
  readonly #breaker: Breaker = closedBreaker();
  readonly #queue = new FairQueue<Entry>();
  /** Over all epochs of the breaker. */
  #callsInFlight = 0;
  /** Calls of each workspace deferred since a call last ended, and of all together: they lengthen the next delay. */
  readonly #deferredCalls = new Map<string, number>();
  #deferredInAll = 0;
  /** The error code of an execution that cannot wait for this gate. */
  #lastCode: ExecutionErrorCode = 'MODEL_TIMEOUT';

  constructor(provider: string, callsMax: number) {
    this.provider = provider;
    this.#callsMax = callsMax;
  }

  /** Whether the breaker is open at this moment. */
  get open(): boolean {
    return this.#breaker.openUntilMs > performance.now();
  }

  /** Returns the epoch to leave with, or throws a `ModelDeferred`. */
  async enter(call: GatedCall): Promise<number> {
    const entry = await this.#enterOrWait(call);
    if (entry.kind === 'go') return entry.epoch;
    throw this.#deferred(call, entry.kind === 'open' ? entry.leftMs : 0);
  }

  /** Reports how an admitted call ended. */
  leave(epoch: number, outcome: Outcome, code: ExecutionErrorCode | null): void {
    if (outcome.kind === 'failed' && code) this.#lastCode = code;
    this.#deferredCalls.clear();
    this.#deferredInAll = 0;
    this.#leave(epoch, outcome);
  }

  /** Leaves without a call: another gate deferred it. */
  withdraw(epoch: number): void {
    this.#leave(epoch, { kind: 'unknown' });
  }

  #leave(epoch: number, outcome: Outcome): void {
    this.#callsInFlight--;
    leave(this.#breaker, epoch, outcome, performance.now(), Math.random());
    this.#grantRoom();
  }

  async #enterOrWait({ workspaceId, leftMs, signal }: GatedCall): Promise<Entry> {
    // Time alone may have made room; a new call does not overtake waiting ones.
    this.#grantRoom();
    const entry: Entry = this.#queue.empty ? this.#tryEnter(leftMs) : { kind: 'full' };
    if (entry.kind !== 'full') return entry;
    const granted = await this.#queue.acquire(workspaceId, waitMs, signal);
    if (granted || signal.aborted) return granted ?? entry;
    this.#grantRoom();
    return this.#tryEnter(leftMs);
  }

  #tryEnter(leftMs = Number.POSITIVE_INFINITY): Entry {
    if (this.#callsInFlight >= this.#callsMax) return { kind: 'full' };
    const entry = enter(this.#breaker, performance.now(), leftMs);
    if (entry.kind === 'go') this.#callsInFlight++;
    return entry;
  }

  /** Admits waiting calls while there is room. Defers all of them if the breaker has just opened. */
  #grantRoom(): void {
    while (!this.#queue.empty) {
      const entry = this.#tryEnter();
      if (entry.kind === 'full') return;
      this.#queue.release(entry);
    }
  }

  /**
   * The more calls are deferred, the later they return, so that the queue is not cycled for nothing. A workspace with
   * few deferred calls is not delayed by those of others.
   */
  #deferred({ workspaceId }: GatedCall, leftMs: number): ModelDeferred {
    const own = this.#deferredCalls.get(workspaceId) ?? 0;
    this.#deferredCalls.set(workspaceId, own + 1);
    const others = own < fewMax ? 0 : this.#deferredInAll - own;
    this.#deferredInAll++;
    const spreadMs = Math.min(30_000, 1_000 + 20 * own + 2 * others);
    // Until a provider has responded after an outage, it is not considered merely full.
    const full = this.#breaker.openingsInRow === 0;
    return new ModelDeferred(leftMs + spreadMs * (0.5 + Math.random()), this.#lastCode, full);
  }
}
