import { LruCache } from '../../core/lru-cache.ts';
import type { Outcome } from '../../core/model/breaker.ts';
import { ModelFailure } from '../../core/model/model-port.ts';
import { knownProvider } from '../connection/environment.ts';
import { Gate, type GatedCall } from './gate.ts';

export interface BreakerState {
  readonly provider: string;
  /** The breaker is open at this moment. */
  readonly open: boolean;
}

interface GuardedCall extends GatedCall {
  readonly provider: string;
  /** Identifies a provider with its credential. */
  readonly credential: string;
  readonly model: string;
  readonly baseURL: string;
  /** Of this call, in milliseconds. */
  readonly timeoutMs: number;
}

const gatesMax = 1_000;
/** A call with a shorter timeout says more about its agent than about the provider when it times out. */
const shortTimeoutMs = 10_000;

/**
 * Circuit breakers in this process, by what a failure belongs to:
 *
 * - credential and model: rate limits, 5xx, loading models, timeouts, broken connections
 * - base URL: no connection (refused, DNS, TLS)
 * - credential: 401, 403 and exhausted credit. They are final, so no call is held back; they say nothing about a model.
 *
 * A failing model therefore never holds back another one on the same credential. The maximum of concurrent calls counts
 * per credential.
 */
export class Breakers {
  readonly #callsMax: number;
  readonly #models = new LruCache<Gate>(gatesMax);
  readonly #baseURLs = new LruCache<Gate>(gatesMax);
  readonly #credentials = new LruCache<Gate>(gatesMax);

  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  /** Makes the call, or throws a `ModelDeferred` instead. */
  async run<T>(call: GuardedCall, work: () => Promise<T>): Promise<T> {
    const { provider, credential, model, baseURL } = call;
    const gate = (gates: LruCache<Gate>, key: string, max = Infinity) =>
      gates.getOrCreate(key, () => new Gate(provider, max));
    const leaveAll = await enterAll(call, {
      model: gate(this.#models, `${credential} ${model}`),
      baseURL: gate(this.#baseURLs, baseURL),
      credential: gate(this.#credentials, credential, this.#callsMax),
    });
    try {
      const response = await work();
      leaveAll(success, null);
      return response;
    } catch (error) {
      leaveAll(outcomesOf(error, call), error instanceof ModelFailure ? error : null);
      throw error;
    }
  }

  /** The most recently used ones. */
  states(): BreakerState[] {
    const gates = [...this.#models.values(), ...this.#baseURLs.values()];
    return gates.map(({ provider, open }) => ({ provider, open }));
  }
}

/** Enters one gate after the other. A deferred call leaves those that it has entered. */
async function enterAll(call: GuardedCall, gates: Readonly<Record<Scope, Gate>>) {
  const entered: { readonly scope: Scope; readonly epoch: number }[] = [];
  try {
    for (const scope of scopes) entered.push({ scope, epoch: await gates[scope].enter(call) });
  } catch (error) {
    for (const { scope, epoch } of entered) gates[scope].withdraw(epoch);
    throw error;
  }
  return (outcomes: Outcomes, failure: ModelFailure | null) => {
    for (const { scope, epoch } of entered) {
      gates[scope].leave(epoch, outcomes[scope], failure?.code ?? null);
    }
  };
}

/** The model first: a call that its breaker holds back must not occupy room that others need. */
const scopes = ['model', 'baseURL', 'credential'] as const;
type Scope = (typeof scopes)[number];
type Outcomes = Readonly<Record<Scope, Outcome>>;

const unknown: Outcome = { kind: 'unknown' };
const answered: Outcome = { kind: 'answered' };
const noFailure: Outcomes = { model: unknown, baseURL: unknown, credential: unknown };
const success: Outcomes = { model: answered, baseURL: answered, credential: unknown };

function outcomesOf(error: unknown, call: Pick<GuardedCall, 'signal' | 'timeoutMs'>): Outcomes {
  const reason = call.signal.aborted ? call.signal.reason : error;
  if (!(reason instanceof ModelFailure)) return noFailure;
  const { code, retryable, retryAfterMs, unreached } = reason;
  // The provider was not called.
  if (code === 'PROVIDER_NOT_CONFIGURED' || code === 'FILE_UNAVAILABLE') return noFailure;
  if (code === 'EMPTY_OUTPUT' || code === 'SCHEMA_MISMATCH') return success;
  const failed: Outcome = { kind: 'failed', retryAfterMs };
  if (unreached) return { ...noFailure, baseURL: failed };
  if (code === 'MODEL_TIMEOUT') {
    return call.timeoutMs < shortTimeoutMs ? noFailure : { ...noFailure, model: failed };
  }
  if (code === 'PROVIDER_AUTH' || code === 'PROVIDER_QUOTA') {
    return { ...noFailure, baseURL: answered };
  }
  // A permanent failure is the caller's fault, and the provider did respond.
  return { ...success, model: retryable ? failed : answered };
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
