import type { ExecutionErrorCode } from '../core/failure.ts';
import { LruCache } from '../core/lru-cache.ts';
import {
  type Breaker,
  closedBreaker,
  type Entry,
  enter,
  leave,
  type Outcome,
} from '../core/model/breaker.ts';
import { ModelDeferred, ModelFailure } from '../core/model/model-port.ts';
import { FairQueue } from './fair-queue.ts';
import { knownProvider } from './with-metrics.ts';

/**
 * One circuit breaker per provider and credential in this process: calls that share a key share its limits, and others
 * must not suffer. A call without room waits briefly in a fair queue over workspaces. After that, or at once if the
 * breaker is open, its execution returns to the queue and frees its slot.
 */
export interface Breakers {
  /** Makes the call, or throws a `ModelDeferred` instead. */
  through<T>(call: GuardedCall, work: () => Promise<T>): Promise<T>;
  /** The most recently used ones. */
  states(): BreakerState[];
}

export interface BreakerState {
  readonly provider: string;
  /** The breaker is open at this moment. */
  readonly open: boolean;
}

interface GuardedCall {
  /** Identifies a provider and credential. */
  readonly key: string;
  readonly provider: string;
  readonly workspaceId: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Guarded {
  readonly provider: string;
  readonly breaker: Breaker;
  /** Over all epochs. */
  callsInFlight: number;
  readonly queue: FairQueue<Entry>;
  /** Calls of each workspace deferred since a call last ended, and of all together: they lengthen the next delay. */
  readonly deferredCalls: Map<string, number>;
  deferredInAll: number;
  lastCode: ExecutionErrorCode;
}

const breakersMax = 1_000;
/** Short, because the waiting call occupies a slot; longer than most gaps between two calls. */
const waitMs = 1_000;
/** A single repeated call is deferred at most this often in two minutes in which no call ends. */
const fewMax = 60;
/** A call with a shorter timeout says more about its agent than about the provider when it times out. */
const shortTimeoutMs = 10_000;

export function createBreakers(callsMax: number): Breakers {
  const all = new LruCache<Guarded>(breakersMax);

  async function admit(guarded: Guarded, call: GuardedCall): Promise<number> {
    const entry = await enterOrWait(guarded, call);
    if (entry.kind === 'go') return entry.epoch;
    throw deferred(guarded, call, entry.kind === 'open' ? entry.leftMs : 0);
  }

  async function enterOrWait(
    guarded: Guarded,
    { workspaceId, signal }: GuardedCall,
  ): Promise<Entry> {
    const { queue } = guarded;
    // Time alone may have made room; a new call does not overtake waiting ones.
    grantRoom(guarded);
    const entry: Entry = queue.empty ? tryEnter(guarded) : { kind: 'full' };
    if (entry.kind !== 'full') return entry;
    const granted = await queue.acquire(workspaceId, waitMs, signal);
    if (granted || signal.aborted) return granted ?? entry;
    grantRoom(guarded);
    return tryEnter(guarded);
  }

  function tryEnter(guarded: Guarded): Entry {
    if (guarded.callsInFlight >= callsMax) return { kind: 'full' };
    const entry = enter(guarded.breaker, performance.now());
    if (entry.kind === 'go') guarded.callsInFlight++;
    return entry;
  }

  /** Admits waiting calls while there is room. Defers all of them if the breaker has just opened. */
  function grantRoom(guarded: Guarded): void {
    while (!guarded.queue.empty) {
      const entry = tryEnter(guarded);
      if (entry.kind === 'full') return;
      guarded.queue.release(entry);
    }
  }

  function leaveBreaker(guarded: Guarded, epoch: number, outcome: Outcome): void {
    guarded.callsInFlight--;
    guarded.deferredCalls.clear();
    guarded.deferredInAll = 0;
    leave(guarded.breaker, epoch, outcome, performance.now(), Math.random());
    grantRoom(guarded);
  }

  return {
    async through(call, work) {
      const guarded = all.getOrCreate(call.key, () => newGuarded(call.provider));
      const epoch = await admit(guarded, call);
      try {
        const response = await work();
        leaveBreaker(guarded, epoch, { kind: 'answered' });
        return response;
      } catch (error) {
        const outcome = outcomeOf(error, call);
        if (outcome.kind === 'failed') guarded.lastCode = (error as ModelFailure).code;
        leaveBreaker(guarded, epoch, outcome);
        throw error;
      }
    },
    states() {
      const nowMs = performance.now();
      return all
        .values()
        .map(({ provider, breaker }) => ({ provider, open: breaker.openUntilMs > nowMs }));
    },
  };
}

/** By the provider names used as metric labels; a closed breaker reports 0. */
export function providersOpen(states: readonly BreakerState[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { provider, open } of states) {
    const name = knownProvider(provider);
    counts.set(name, (counts.get(name) ?? 0) + Number(open));
  }
  return counts;
}

function newGuarded(provider: string): Guarded {
  return {
    provider,
    breaker: closedBreaker(),
    callsInFlight: 0,
    queue: new FairQueue(),
    deferredCalls: new Map(),
    deferredInAll: 0,
    lastCode: 'MODEL_TIMEOUT',
  };
}

/**
 * The more calls are deferred, the later they return, so that the queue is not cycled for nothing. A workspace with few
 * deferred calls is not delayed by those of others.
 */
function deferred(guarded: Guarded, { workspaceId }: GuardedCall, leftMs: number): ModelDeferred {
  const own = guarded.deferredCalls.get(workspaceId) ?? 0;
  guarded.deferredCalls.set(workspaceId, own + 1);
  const others = own < fewMax ? 0 : guarded.deferredInAll - own;
  guarded.deferredInAll++;
  const spreadMs = Math.min(30_000, 1_000 + 20 * own + 2 * others);
  const code = leftMs > 0 ? guarded.lastCode : 'MODEL_TIMEOUT';
  // Until a provider has responded after an outage, it is not considered merely full.
  const full = guarded.breaker.openingsInRow === 0;
  return new ModelDeferred(leftMs + spreadMs * (0.5 + Math.random()), code, full);
}

function outcomeOf(error: unknown, call: Pick<GuardedCall, 'signal' | 'timeoutMs'>): Outcome {
  const reason = call.signal.aborted ? call.signal.reason : error;
  if (!(reason instanceof ModelFailure)) return { kind: 'unknown' };
  const { code, retryable, retryAfterMs } = reason;
  if (code === 'PROVIDER_NOT_CONFIGURED') return { kind: 'unknown' };
  if (code === 'MODEL_TIMEOUT' && call.timeoutMs < shortTimeoutMs) return { kind: 'unknown' };
  if (code === 'EMPTY_OUTPUT') return { kind: 'answered' };
  // A permanent failure is the caller's fault, and the provider did respond.
  return retryable ? { kind: 'failed', retryAfterMs } : { kind: 'answered' };
}
