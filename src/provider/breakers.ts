import type { ExecutionErrorCode } from '../core/failure.ts';
import {
  type Breaker,
  closedBreaker,
  type Entry,
  enter,
  leave,
  type Outcome,
} from '../core/model/breaker.ts';
import { ModelDeferred, ModelFailure } from '../core/model/model-port.ts';
import { Line } from './fair-queue.ts';
import { Recent } from './lru-cache.ts';
import { knownProvider } from './with-metrics.ts';

/**
 * One breaker for each provider and credential, in this process: whoever shares a key shares its limits, and whoever does
 * not must not suffer from another's. A call that finds no room waits here for a moment, in line, where workspaces take
 * turns; then, and at once where the breaker is open, its run goes back to the queue and gives its slot to others.
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
  readonly workspaceId: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Guarded {
  readonly provider: string;
  readonly breaker: Breaker;
  /** Of all epochs. */
  underWay: number;
  readonly line: Line<Entry>;
  /** Calls of each workspace since a call last ended, and of all: by them its next one is sent away for longer. */
  readonly sentAway: Map<string, number>;
  sentAwayInAll: number;
  lastCode: ExecutionErrorCode;
}

const breakersMax = 1_000;
/** Shorter than a slot should be held for nothing, longer than most gaps between two calls. */
const waitMs = 1_000;
/** One call that comes back again and again is sent away no more often in two minutes in which no call ends. */
const fewMax = 60;
/** A call that had less time says more of its agent than of the provider, when that time is up. */
const patienceMs = 10_000;

export function createBreakers(callsMax: number): Breakers {
  const all = new Recent<Guarded>(breakersMax);

  async function admitted(guarded: Guarded, call: GuardedCall): Promise<number> {
    const entry = await entered(guarded, call);
    if (entry.kind === 'go') return entry.epoch;
    throw deferred(guarded, call, entry.kind === 'open' ? entry.leftMs : 0);
  }

  async function entered(guarded: Guarded, { workspaceId, signal }: GuardedCall): Promise<Entry> {
    const { line } = guarded;
    // Time alone can have made room, for the next probe or for all; who comes does not pass those who wait.
    handOut(guarded);
    const entry: Entry = line.empty ? tried(guarded) : { kind: 'full' };
    if (entry.kind !== 'full') return entry;
    const given = await line.stand(workspaceId, waitMs, signal);
    if (given || signal.aborted) return given ?? entry;
    handOut(guarded);
    return tried(guarded);
  }

  function tried(guarded: Guarded): Entry {
    if (guarded.underWay >= callsMax) return { kind: 'full' };
    const entry = enter(guarded.breaker, performance.now());
    if (entry.kind === 'go') guarded.underWay++;
    return entry;
  }

  /** The room that there is, to those in line; where the breaker has just been opened, all of them are sent away. */
  function handOut(guarded: Guarded): void {
    while (!guarded.line.empty) {
      const entry = tried(guarded);
      if (entry.kind === 'full') return;
      guarded.line.next(entry);
    }
  }

  function ended(guarded: Guarded, epoch: number, outcome: Outcome): void {
    guarded.underWay--;
    guarded.sentAway.clear();
    guarded.sentAwayInAll = 0;
    leave(guarded.breaker, epoch, outcome, performance.now(), Math.random());
    handOut(guarded);
  }

  return {
    async through(call, work) {
      const guarded = all.get(call.key, () => fresh(call.provider));
      const epoch = await admitted(guarded, call);
      try {
        const answer = await work();
        ended(guarded, epoch, { kind: 'answered' });
        return answer;
      } catch (error) {
        const outcome = outcomeOf(error, call);
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
    line: new Line(),
    sentAway: new Map(),
    sentAwayInAll: 0,
    lastCode: 'MODEL_TIMEOUT',
  };
}

/**
 * The more are sent away the later they come back, so that the queue is not turned over again and again for nothing. A
 * workspace that has sent only a few does not come later for those of others.
 */
function deferred(guarded: Guarded, { workspaceId }: GuardedCall, leftMs: number): ModelDeferred {
  const own = guarded.sentAway.get(workspaceId) ?? 0;
  guarded.sentAway.set(workspaceId, own + 1);
  const others = own < fewMax ? 0 : guarded.sentAwayInAll - own;
  guarded.sentAwayInAll++;
  const spreadMs = Math.min(30_000, 1_000 + 20 * own + 2 * others);
  const code = leftMs > 0 ? guarded.lastCode : 'MODEL_TIMEOUT';
  // Until it has answered, a provider that was left alone is not taken for one that has enough to do.
  const full = guarded.breaker.openingsInRow === 0;
  return new ModelDeferred(leftMs + spreadMs * (0.5 + Math.random()), code, full);
}

function outcomeOf(error: unknown, call: Pick<GuardedCall, 'signal' | 'timeoutMs'>): Outcome {
  const reason = call.signal.aborted ? call.signal.reason : error;
  if (!(reason instanceof ModelFailure)) return { kind: 'unknown' };
  const { code, retryable, retryAfterMs } = reason;
  if (code === 'PROVIDER_NOT_CONFIGURED') return { kind: 'unknown' };
  if (code === 'MODEL_TIMEOUT' && call.timeoutMs < patienceMs) return { kind: 'unknown' };
  // What a repeat cannot mend is of the caller's making, and it was answered.
  return retryable ? { kind: 'failed', retryAfterMs } : { kind: 'answered' };
}
