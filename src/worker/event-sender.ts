import { setTimeout as delay } from 'node:timers/promises';
import { inFlightMax } from '../core/event/retry.ts';
import { batcher } from '../flow/admission/batcher.ts';
import {
  type AttemptDeps,
  type Attempted,
  attemptDelivery,
  gone,
  hasFullData,
} from '../flow/event/attempt-delivery.ts';
import { disableEndpoint } from '../flow/event/disable-endpoint.ts';
import type { Db } from '../store/connection/database.ts';
import {
  type DueDelivery,
  readDue,
  readFullData,
  recordAttempts,
  recordHealth,
  releaseEndpoints,
  takeEndpoints,
} from '../store/event/deliveries.ts';
import { findFailingEndpoints } from '../store/event/endpoints.ts';

/**
 * Sends events to endpoints. Each process takes endpoints that have due deliveries and sends to them until nothing is due for a
 * while. What it holds belongs to its lease, as executions do.
 *
 * Invariants
 * - One process at a time sends to an endpoint, so its limit of requests in flight is exact.
 * - Endpoints share no limit: however many do not answer, the others are not delayed. A failing endpoint gets one request at
 *   a time, so that dead ones cost little.
 * - A delivery is read again before each attempt: an endpoint that was disabled or deleted gets nothing more.
 *
 * Failure cases
 * - The process dies: its row in `workers` is swept, then its endpoints are free. Attempts without a record are repeated.
 * - The lease is lost: requests in flight are aborted and nothing is recorded, because another process may send already.
 */
export interface EventSender {
  /** Something may be due. */
  wake(): void;
  /** Aborts requests in flight; the lease is not certain. */
  abortAll(): void;
  /** Waits for requests in flight, at most as long as one may take, and gives up the endpoints. */
  stop(): Promise<void>;
}

export interface EventSenderDeps extends AttemptDeps {
  readonly db: Db;
  /** The id of the lease; null while it is not certain. */
  readonly lease: () => string | null;
  readonly onAttempt: (outcome: 'delivered' | 'failed' | 'unanswered') => void;
  readonly onError: (error: unknown) => void;
}

interface Held {
  readonly inFlight: Set<string>;
  isFailing: boolean;
  /** When something was last due, on the monotonic clock. */
  usedAt: number;
}

const pollMs = 1_000;
/** Endpoints that one step takes. */
const takenMax = 200;
/** Endpoints are kept for a while, because the next event often follows soon. */
const idleMs = 5_000;
const recordedMax = 200;

export function createEventSender(deps: EventSenderDeps): EventSender {
  const sender = new Sender(deps);
  return {
    wake: () => sender.wake(),
    abortAll: () => sender.abortAll(),
    stop: () => sender.stop(),
  };
}

class Sender {
  readonly #deps: EventSenderDeps;
  readonly #held = new Map<string, Held>();
  readonly #attempts = new Set<Promise<void>>();
  /** The lease under which `#held` was taken. */
  #worker: string | null = null;
  #aborting = new AbortController();
  #stopped = false;
  #again = false;
  #step: Promise<void> | null = null;
  readonly #timer: NodeJS.Timeout;
  readonly #record = batcher<Attempted, void>({
    ...{ sizeMax: recordedMax, inFlightMax: 1, weight: () => 0 },
    run: (outcomes) => this.#write(outcomes),
  });

  constructor(deps: EventSenderDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.wake(), pollMs);
    this.#timer.unref();
  }

  /** Steps never overlap: a wake-up during one starts another. */
  wake(): void {
    if (this.#stopped) return;
    if (this.#step) {
      this.#again = true;
      return;
    }
    this.#again = false;
    this.#step = this.#send()
      .catch(this.#deps.onError)
      .finally(() => {
        this.#step = null;
        if (this.#again) this.wake();
      });
  }

  abortAll(): void {
    this.#aborting.abort();
    this.#aborting = new AbortController();
    this.#held.clear();
    this.#worker = null;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#step;
    const late = setTimeout(() => this.#aborting.abort(), stopMsMax);
    await Promise.all(this.#attempts);
    clearTimeout(late);
    await this.#record.idle();
    if (this.#worker === null || this.#held.size === 0) return;
    await releaseEndpoints(this.#deps.db, this.#worker, [...this.#held.keys()]).catch(
      this.#deps.onError,
    );
  }

  async #send(): Promise<void> {
    const worker = this.#deps.lease();
    if (worker !== this.#worker) this.abortAll();
    if (worker === null) return;
    this.#worker = worker;
    await this.#take(worker);
    await this.#releaseIdle(worker);
    const open = [...this.#held].filter(([, held]) => held.inFlight.size < windowOf(held));
    if (open.length === 0) return;
    const readAt = performance.now();
    const limits = open.map(([endpointId, held]) => ({
      endpointId,
      limit: windowOf(held) + held.inFlight.size,
    }));
    const read = await readDue(this.#deps.db, worker, limits);
    if (this.#worker !== worker) return;
    // At once: while full data is read, an attempt may end whose delivery was read as pending.
    const due = read.filter((one) => this.#reserve(one, readAt));
    const full = await this.#readFull(due).catch((error: unknown) => {
      for (const { endpointId, id } of due) this.#held.get(endpointId)?.inFlight.delete(id);
      throw error;
    });
    if (this.#worker !== worker) return;
    for (const one of due) this.#start(one, readAt, full(one));
  }

  async #take(worker: string): Promise<void> {
    const ids = await takeEndpoints(this.#deps.db, worker, {
      held: [...this.#held.keys()],
      limit: takenMax,
    });
    if (this.#worker !== worker) return;
    for (const id of ids) {
      const usedAt = performance.now();
      this.#held.set(id, { inFlight: new Set(), isFailing: false, usedAt });
    }
    if (ids.length === takenMax) this.#again = true;
  }

  async #releaseIdle(worker: string): Promise<void> {
    const before = performance.now() - idleMs;
    const idle = [...this.#held].filter(
      ([, { inFlight, usedAt }]) => inFlight.size === 0 && usedAt < before,
    );
    if (idle.length === 0) return;
    const ids = idle.map(([id]) => id);
    for (const id of ids) this.#held.delete(id);
    await releaseEndpoints(this.#deps.db, worker, ids);
  }

  /** False if the delivery is in flight, or its endpoint has no room. */
  #reserve({ endpointId, id, isFailing }: DueDelivery, now: number): boolean {
    const held = this.#held.get(endpointId);
    if (!held || held.inFlight.has(id)) return false;
    held.isFailing = isFailing;
    if (held.inFlight.size >= windowOf(held)) return false;
    held.inFlight.add(id);
    held.usedAt = now;
    return true;
  }

  async #readFull(due: readonly DueDelivery[]) {
    const ids = due.flatMap((one) => (hasFullData(one) && one.subject ? one.subject : []));
    const found = ids.length === 0 ? null : await readFullData(this.#deps.db, [...new Set(ids)]);
    return (one: DueDelivery) => {
      if (!found || !hasFullData(one)) return null;
      const full = one.subject === null ? undefined : found.get(one.subject);
      return full === undefined ? ('gone' as const) : (full ?? ('large' as const));
    };
  }

  #start(due: DueDelivery, readAt: number, full: Parameters<typeof attemptDelivery>[2]['full']) {
    const { signal } = this.#aborting;
    const attempt = attemptDelivery(this.#deps, due, { readAt, full, signal })
      .then((outcome) => (signal.aborted ? undefined : this.#record.add(outcome)))
      .catch(async (error: unknown) => {
        if (signal.aborted) return;
        this.#deps.onError(error);
        // The attempt is not recorded and will be repeated, but not as fast as the receiver answers.
        await delay(pollMs, undefined, { signal }).catch(() => {});
      })
      .finally(() => {
        this.#attempts.delete(attempt);
        this.#held.get(due.endpointId)?.inFlight.delete(due.id);
        this.wake();
      });
    this.#attempts.add(attempt);
  }

  async #write(outcomes: Attempted[]): Promise<undefined[]> {
    const { db, onAttempt, onError } = this.#deps;
    await recordAttempts(db, outcomes);
    const idsOf = (some: Attempted[]) => [...new Set(some.map(({ endpointId }) => endpointId))];
    const succeeded = idsOf(outcomes.filter(({ delivered }) => delivered));
    const failed = idsOf(outcomes.filter(({ delivered }) => !delivered));
    const failedOnly = failed.filter((id) => !succeeded.includes(id));
    await recordHealth(db, { succeeded, failed: failedOnly });
    const ended = idsOf(outcomes.filter(({ status }) => status === gone));
    for (const id of ended) await disableEndpoint(db, id, 'gone').catch(onError);
    if (failedOnly.length > 0) {
      const failing = await findFailingEndpoints(db, failedOnly);
      for (const id of failing) await disableEndpoint(db, id, 'failing').catch(onError);
    }
    for (const { delivered, status } of outcomes) {
      onAttempt(delivered ? 'delivered' : status === null ? 'unanswered' : 'failed');
    }
    return outcomes.map(() => undefined);
  }
}

/** A drain waits no longer for answers; what is aborted is sent again by another process. */
const stopMsMax = 5_000;

function windowOf({ isFailing }: Held): number {
  return isFailing ? 1 : inFlightMax;
}
