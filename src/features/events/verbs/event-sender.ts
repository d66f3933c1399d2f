import { setTimeout as delay } from 'node:timers/promises';
import type { DisabledReason } from '../../../core/event/endpoint.ts';
import { inFlightMax } from '../../../core/event/retry.ts';
import { createWakeLoop, type WakeLoop } from '../../../core/wake-loop.ts';
import type { Db } from '../../../db/database.ts';
import type { Pipelines } from '../../../db/pipeline.ts';
import { batcher } from '../../../engine/transaction/batcher.ts';
import {
  claimEndpoints,
  type DueDelivery,
  readDue,
  readFullData,
  recordAttempts,
  recordHealth,
  releaseEndpoints,
} from '../statements/deliveries.ts';
import { findFailingEndpoints } from '../statements/endpoints.ts';
import {
  type AttemptDeps,
  type Attempted,
  attemptDelivery,
  gone,
  hasFullData,
} from './attempt-delivery.ts';
import { disableEndpoint } from './disable-endpoint.ts';

/**
 * Sends events to endpoints. Each process claims endpoints that have due deliveries and sends to them until nothing is due for a
 * while. What it claims belongs to its lease, as executions do.
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
  /** Waits for requests in flight, at most as long as one may take, and releases the endpoints. */
  stop(): Promise<void>;
}

export interface EventSenderDeps extends AttemptDeps {
  readonly db: Db;
  /** For what is done for every delivery: one connection for reads and one for outcomes. */
  readonly pipelines: Pipelines;
  /** The id of the lease; null while it is not certain. */
  readonly lease: () => string | null;
  readonly onAttempt: (outcome: 'delivered' | 'failed' | 'unanswered') => void;
  readonly onError: (error: unknown) => void;
}

interface ClaimedEndpoint {
  readonly inFlight: Set<string>;
  /** What ended since due deliveries were last read: an older snapshot may show it as pending. */
  readonly ended: Set<string>;
  /** Its health, as read with the last delivery or recorded since. */
  isFailing: boolean;
  isSuccessOld: boolean;
  /** When its health was recorded, on the monotonic clock: what was read before is older. */
  healthAt: number;
  /** When something was last due, on the monotonic clock. */
  usedAt: number;
}

const pollMs = 1_000;
/** Endpoints that one step claims. */
const claimedMax = 200;
/** Many steps a second send to the claimed endpoints: few of them need to look for others. */
const claimEveryMs = 50;
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
  readonly #claimed = new Map<string, ClaimedEndpoint>();
  readonly #attempts = new Set<Promise<void>>();
  /** The lease of `#claimed`. */
  #worker: string | null = null;
  #aborting = new AbortController();
  readonly #steps: WakeLoop;
  /** When this process last looked for endpoints, on the monotonic clock. */
  #claimedAt = Number.NEGATIVE_INFINITY;
  #nextClaim: NodeJS.Timeout | undefined;
  readonly #timer: NodeJS.Timeout;
  /** Resolves once no endpoint is being disabled. */
  #disabled: Promise<void> = Promise.resolve();
  /** The result is why the outcome disables its endpoint; null if it does not. */
  readonly #record = batcher<Attempted, DisabledReason | null>({
    ...{ sizeMax: recordedMax, inFlightMax: 1, weight: () => 0 },
    run: (outcomes) => this.#write(outcomes),
  });

  constructor(deps: EventSenderDeps) {
    this.#deps = deps;
    this.#steps = createWakeLoop(() => this.#send(), deps.onError);
    this.#timer = setInterval(() => this.wake(), pollMs);
    this.#timer.unref();
  }

  wake(): void {
    this.#steps.wake();
  }

  abortAll(): void {
    this.#aborting.abort();
    this.#aborting = new AbortController();
    this.#claimed.clear();
    this.#worker = null;
  }

  async stop(): Promise<void> {
    const settled = this.#steps.stop();
    clearInterval(this.#timer);
    clearTimeout(this.#nextClaim);
    await settled;
    const late = setTimeout(() => this.#aborting.abort(), stopMsMax);
    await Promise.all(this.#attempts);
    clearTimeout(late);
    await this.#record.idle();
    if (this.#worker === null || this.#claimed.size === 0) return;
    await releaseEndpoints(this.#deps.db, this.#worker, [...this.#claimed.keys()]).catch(
      this.#deps.onError,
    );
  }

  async #send(): Promise<void> {
    const worker = this.#deps.lease();
    if (worker !== this.#worker) this.abortAll();
    if (worker === null) return;
    this.#worker = worker;
    await this.#claim(worker);
    await this.#releaseIdle(worker);
    const open = [...this.#claimed].filter(
      ([, endpoint]) => endpoint.inFlight.size < windowOf(endpoint),
    );
    if (open.length === 0) return;
    const readAt = performance.now();
    const limits = open.map(([endpointId, endpoint]) => ({
      endpointId,
      limit: windowOf(endpoint) + endpoint.inFlight.size,
    }));
    for (const [, { ended }] of open) ended.clear();
    const read = await this.#deps.pipelines.use((send) => readDue(send, worker, limits));
    if (this.#worker !== worker) return;
    // At once: while full data is read, an attempt may end whose delivery was read as pending.
    const due = read.filter((one) => this.#reserve(one, readAt));
    const full = await this.#readFull(due).catch((error: unknown) => {
      for (const { endpointId, id } of due) this.#claimed.get(endpointId)?.inFlight.delete(id);
      throw error;
    });
    if (this.#worker !== worker) return;
    for (const one of due) this.#start(one, readAt, full(one));
  }

  async #claim(worker: string): Promise<void> {
    const now = performance.now();
    if (now < this.#claimedAt + claimEveryMs)
      return this.#claimLater(this.#claimedAt + claimEveryMs - now);
    this.#claimedAt = now;
    const ids = await claimEndpoints(this.#deps.db, worker, {
      claimed: [...this.#claimed.keys()],
      limit: claimedMax,
    });
    if (this.#worker !== worker) return;
    for (const id of ids) {
      const usedAt = performance.now();
      this.#claimed.set(id, {
        ...{ inFlight: new Set(), ended: new Set(), usedAt },
        ...{ isFailing: false, isSuccessOld: true, healthAt: Number.NEGATIVE_INFINITY },
      });
    }
    if (ids.length < claimedMax) return;
    this.#claimedAt = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  #claimLater(waitMs: number): void {
    this.#nextClaim ??= setTimeout(() => {
      this.#nextClaim = undefined;
      this.wake();
    }, waitMs);
    this.#nextClaim.unref();
  }

  async #releaseIdle(worker: string): Promise<void> {
    const before = performance.now() - idleMs;
    const idle = [...this.#claimed].filter(
      ([, { inFlight, usedAt }]) => inFlight.size === 0 && usedAt < before,
    );
    if (idle.length === 0) return;
    const ids = idle.map(([id]) => id);
    for (const id of ids) this.#claimed.delete(id);
    await releaseEndpoints(this.#deps.db, worker, ids);
  }

  /** False if the delivery is in flight or was until a moment ago, or its endpoint has no room. */
  #reserve({ endpointId, id, isFailing, isSuccessOld }: DueDelivery, now: number): boolean {
    const endpoint = this.#claimed.get(endpointId);
    if (!endpoint || endpoint.inFlight.has(id) || endpoint.ended.has(id)) return false;
    if (now > endpoint.healthAt) Object.assign(endpoint, { isFailing, isSuccessOld });
    if (endpoint.inFlight.size >= windowOf(endpoint)) return false;
    endpoint.inFlight.add(id);
    endpoint.usedAt = now;
    return true;
  }

  async #readFull(due: readonly DueDelivery[]) {
    const ids = due.flatMap((one) => (hasFullData(one) && one.subject ? one.subject : []));
    if (ids.length === 0) return () => null;
    const found = await this.#deps.pipelines.use((send) => readFullData(send, [...new Set(ids)]));
    return (one: DueDelivery) => {
      if (!hasFullData(one)) return null;
      const full = one.subject === null ? undefined : found.get(one.subject);
      return full === undefined ? ('gone' as const) : (full ?? ('large' as const));
    };
  }

  #start(due: DueDelivery, readAt: number, full: Parameters<typeof attemptDelivery>[2]['full']) {
    const { signal } = this.#aborting;
    // After an abort, another process may have claimed the endpoint and have the delivery in flight.
    const endpoint = this.#claimed.get(due.endpointId);
    const attempt = attemptDelivery(this.#deps, due, { readAt, full, signal })
      .then(async (outcome) => {
        if (signal.aborted) return;
        const reason = await this.#record.add(outcome);
        if (reason === null) return;
        // Outcomes of other endpoints do not wait for this. Until then the attempt counts as in flight.
        await this.#disable(due.endpointId, reason);
      })
      .catch(async (error: unknown) => {
        if (signal.aborted) return;
        this.#deps.onError(error);
        // The attempt is not recorded and will be repeated, but not as fast as the receiver answers.
        await delay(pollMs, undefined, { signal }).catch(() => {});
      })
      .finally(() => {
        this.#attempts.delete(attempt);
        endpoint?.inFlight.delete(due.id);
        endpoint?.ended.add(due.id);
        this.wake();
      });
    this.#attempts.add(attempt);
  }

  /** One endpoint at a time, because the pool is small. */
  #disable(endpointId: string, reason: DisabledReason): Promise<void> {
    const { db, onError } = this.#deps;
    this.#disabled = this.#disabled
      .then(() => disableEndpoint(db, endpointId, reason))
      .catch(onError);
    return this.#disabled;
  }

  async #write(outcomes: Attempted[]): Promise<(DisabledReason | null)[]> {
    const { db, pipelines, onAttempt } = this.#deps;
    await pipelines.use((send) => recordAttempts(send, outcomes));
    const idsOf = (some: Attempted[]) => [...new Set(some.map(({ endpointId }) => endpointId))];
    const succeeded = idsOf(outcomes.filter(({ delivered }) => delivered));
    const failed = idsOf(outcomes.filter(({ delivered }) => !delivered));
    const failedOnly = failed.filter((id) => !succeeded.includes(id));
    await this.#recordHealth(succeeded, failedOnly);
    const failing = failedOnly.length > 0 ? await findFailingEndpoints(db, failedOnly) : [];
    for (const { delivered, status } of outcomes) {
      onAttempt(delivered ? 'delivered' : status === null ? 'unanswered' : 'failed');
    }
    const reasons = new Map<string, DisabledReason>(failing.map((id) => [id, 'failing']));
    for (const { endpointId, status } of outcomes)
      if (status === gone) reasons.set(endpointId, 'gone');
    return outcomes.map(({ endpointId }) => {
      const reason = reasons.get(endpointId) ?? null;
      // The first outcome of an endpoint disables it.
      reasons.delete(endpointId);
      return reason;
    });
  }

  /** Writes only what is new: most outcomes change no health. */
  async #recordHealth(succeeded: readonly string[], failed: readonly string[]): Promise<void> {
    const isNew = (id: string, isFailing: boolean) => {
      const endpoint = this.#claimed.get(id);
      return !endpoint || endpoint.isFailing !== isFailing || (!isFailing && endpoint.isSuccessOld);
    };
    const given = {
      succeeded: succeeded.filter((id) => isNew(id, false)),
      failed: failed.filter((id) => isNew(id, true)),
    };
    if (given.succeeded.length + given.failed.length === 0) return;
    await this.#deps.pipelines.use((send) => recordHealth(send, given));
    for (const id of given.failed) this.#setHealth(id, true);
    for (const id of given.succeeded) this.#setHealth(id, false);
  }

  #setHealth(endpointId: string, isFailing: boolean): void {
    const endpoint = this.#claimed.get(endpointId);
    if (!endpoint) return;
    endpoint.isFailing = isFailing;
    if (!isFailing) endpoint.isSuccessOld = false;
    endpoint.healthAt = performance.now();
  }
}

/** A drain waits no longer for answers; what is aborted is sent again by another process. */
const stopMsMax = 5_000;

function windowOf({ isFailing }: ClaimedEndpoint): number {
  return isFailing ? 1 : inFlightMax;
}
