import {
  type Breaker,
  closedBreaker,
  type Entry,
  enter,
  leave,
  type Outcome,
} from '../core/breaker.ts';
import type { RunFailureCode } from '../core/failure.ts';
import { ModelDeferred, ModelFailure } from '../core/model.ts';
import { knownProvider } from './measured.ts';
import { Recent } from './recent.ts';

/**
 * One breaker for each provider and credential, in this process: whoever shares a key shares its limits, and whoever does
 * not must not suffer from another's. A call that finds no room waits here for a moment, in line; then, and at once where
 * the breaker is open, its run goes back to the queue and gives its slot to others.
 */
export interface Breakers {
  /** Makes the call, or throws a `ModelDeferred` instead. */
  through<T>(call: GuardedCall, work: () => Promise<T>): Promise<T>;
  /** Of those that were used last. */
  states(): BreakerState[];
}

export interface BreakerState {
  readonly provider: string;
  /** Left alone at this moment. */
  readonly open: boolean;
}

interface GuardedCall {
  /** What tells one provider and credential from another. */
  readonly key: string;
  readonly provider: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Guarded {
  readonly provider: string;
  readonly breaker: Breaker;
  /** Of all epochs. */
  underWay: number;
  /** In line, the first one first. */
  readonly waiting: Set<() => void>;
  /** Since a call last ended: how much longer the next one is sent away. */
  sentAway: number;
  lastCode: RunFailureCode;
}

const breakersMax = 1_000;
/** Shorter than a slot should be held for nothing, longer than most gaps between two calls. */
const waitMs = 1_000;
/** A call that had less time says more of its agent than of the provider, when that time is up. */
const patienceMs = 10_000;

export function createBreakers(callsMax: number): Breakers {
  const all = new Recent<Guarded>(breakersMax);

  async function admitted(guarded: Guarded, signal: AbortSignal): Promise<number> {
    const until = performance.now() + waitMs;
    for (;;) {
      const entry = tried(guarded);
      if (entry.kind === 'go') return entry.epoch;
      const leftMs = until - performance.now();
      if (entry.kind === 'open') throw sentAway(guarded, entry.leftMs);
      if (leftMs <= 0 || signal.aborted) throw sentAway(guarded, 0);
      await inLine(guarded, signal, leftMs);
    }
  }

  function tried(guarded: Guarded): Entry {
    if (guarded.underWay >= callsMax) return { kind: 'full' };
    const entry = enter(guarded.breaker, performance.now());
    if (entry.kind === 'go') guarded.underWay++;
    return entry;
  }

  function ended(guarded: Guarded, epoch: number, outcome: Outcome): void {
    const { breaker, waiting } = guarded;
    guarded.underWay--;
    guarded.sentAway = 0;
    const { epoch: before } = breaker;
    leave(breaker, epoch, outcome, performance.now(), Math.random());
    // Just opened: all of them are sent away.
    const opened = breaker.epoch > before;
    const room = Math.min(breaker.window - breaker.inFlight, callsMax - guarded.underWay);
    for (const wake of [...waiting].slice(0, opened ? waiting.size : Math.max(0, room))) wake();
  }

  return {
    async through({ key, provider, timeoutMs, signal }, work) {
      const guarded = all.get(key, () => fresh(provider));
      const epoch = await admitted(guarded, signal);
      try {
        const answer = await work();
        ended(guarded, epoch, { kind: 'answered' });
        return answer;
      } catch (error) {
        const outcome = outcomeOf(error, { signal, timeoutMs });
        if (outcome.kind === 'failed') guarded.lastCode = (error as ModelFailure).code;
        ended(guarded, epoch, outcome);
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

/** By the names that can label a metric; a provider that is not left alone any more says 0. */
export function providersOpen(states: readonly BreakerState[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { provider, open } of states) {
    const name = knownProvider(provider);
    counts.set(name, (counts.get(name) ?? 0) + Number(open));
  }
  return counts;
}

function fresh(provider: string): Guarded {
  return {
    provider,
    breaker: closedBreaker(),
    underWay: 0,
    waiting: new Set(),
    sentAway: 0,
    lastCode: 'MODEL_TIMEOUT',
  };
}

/** The more are sent away the later they come back, so that the queue is not turned over again and again for nothing. */
function sentAway(guarded: Guarded, leftMs: number): ModelDeferred {
  const spreadMs = Math.min(30_000, 1_000 + 20 * guarded.sentAway++);
  const code = leftMs > 0 ? guarded.lastCode : 'MODEL_TIMEOUT';
  // Until it has answered, a provider that was left alone is not taken for one that has enough to do.
  const full = guarded.breaker.openingsInRow === 0;
  return new ModelDeferred(leftMs + spreadMs * (0.5 + Math.random()), code, full);
}

function inLine({ waiting }: Guarded, signal: AbortSignal, leftMs: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      waiting.delete(wake);
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, leftMs);
    signal.addEventListener('abort', wake, { once: true });
    waiting.add(wake);
  });
}

function outcomeOf(error: unknown, call: Pick<GuardedCall, 'signal' | 'timeoutMs'>): Outcome {
  const reason = call.signal.aborted ? call.signal.reason : error;
  if (!(reason instanceof ModelFailure)) return { kind: 'unknown' };
  const { code, retryable, retryAfterMs: askedMs } = reason;
  if (code === 'PROVIDER_NOT_CONFIGURED') return { kind: 'unknown' };
  if (code === 'MODEL_TIMEOUT' && call.timeoutMs < patienceMs) return { kind: 'unknown' };
  // What a repeat cannot mend is of the caller's making, and it was answered.
  return retryable ? { kind: 'failed', askedMs } : { kind: 'answered' };
}
