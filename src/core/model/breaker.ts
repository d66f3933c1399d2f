/**
 * A circuit breaker for a provider: a state machine that gets the time as a parameter. *Closed*, it admits every call.
 * After `failuresMax` consecutive failures it *opens* and rejects all calls for a pause that doubles each time. After the
 * pause it admits one call as a probe. Each response then widens the window of calls in flight by one (slow start), so a
 * backlog returns in doubling steps, not at once. After a minute without an opening it closes. While it is open, it admits
 * one call per second whose deadline comes before the end of the pause; an answer to it ends the pause.
 *
 *                consecutive failures, or Retry-After
 *       closed ─────────────────────────────────────▶ open ◀──┐
 *         ▲                                     pause over │     │ fails
 *         │ a minute                                     ▼     │
 *         └───────── recovering ◀──────────────────── probing ─┘
 *                                    answered
 */
export interface Breaker {
  /** Calls that may be in flight at once; infinite while closed. */
  window: number;
  /** Calls in flight in this epoch. Calls from before an opening no longer count: they may hang for long. */
  inFlight: number;
  /** Incremented by each opening, so that results of earlier calls are ignored. */
  epoch: number;
  failuresInRow: number;
  /** Openings without a response in between. */
  openingsInRow: number;
  openUntilMs: number;
  recoveredAtMs: number;
  /** When the last call was admitted. */
  enteredAtMs: number;
  /** When the last call was admitted while open. */
  lastChanceAtMs: number;
}

/** The outcome of a call. `unknown`: it was aborted before the provider responded. */
export type Outcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'unknown' }
  /** `retryAfterMs`: the provider's Retry-After; 0 if it gave none. */
  | { readonly kind: 'failed'; readonly retryAfterMs: number };

export type Entry =
  | { readonly kind: 'go'; readonly epoch: number }
  | { readonly kind: 'full' }
  | { readonly kind: 'open'; readonly leftMs: number };

const failuresMax = 10;
const firstPauseMs = 1_000;
const pauseMsMax = 30_000;
const steadyMs = 60_000;
/** The minimum time between two calls that are admitted while open. */
const lastChanceEveryMs = 1_000;

export function closedBreaker(): Breaker {
  return {
    window: Number.POSITIVE_INFINITY,
    inFlight: 0,
    epoch: 0,
    failuresInRow: 0,
    openingsInRow: 0,
    openUntilMs: Number.NEGATIVE_INFINITY,
    recoveredAtMs: Number.NEGATIVE_INFINITY,
    enteredAtMs: Number.NEGATIVE_INFINITY,
    lastChanceAtMs: Number.NEGATIVE_INFINITY,
  };
}

/**
 * Asks to make a call; every `go` must be followed by `leave`. Changes the breaker in place.
 * @param timeoutMs the time until the deadline of the call
 */
export function enter(
  breaker: Breaker,
  nowMs: number,
  timeoutMs = Number.POSITIVE_INFINITY,
): Entry {
  const leftMs = breaker.openUntilMs - nowMs;
  if (leftMs > 0) {
    const isLastChance = timeoutMs < leftMs && nowMs - breaker.lastChanceAtMs >= lastChanceEveryMs;
    if (!isLastChance) return { kind: 'open', leftMs };
    breaker.lastChanceAtMs = nowMs;
    return admit(breaker, nowMs);
  }
  if (breaker.openingsInRow === 0 && nowMs - breaker.recoveredAtMs >= steadyMs) {
    breaker.window = Number.POSITIVE_INFINITY;
  }
  // A call may take an hour or hang, so another one probes the provider.
  const silentMs = nowMs - breaker.enteredAtMs;
  if (breaker.inFlight >= breaker.window && silentMs < pauseMsMax) return { kind: 'full' };
  return admit(breaker, nowMs);
}

function admit(breaker: Breaker, nowMs: number): Entry {
  breaker.inFlight++;
  breaker.enteredAtMs = nowMs;
  return { kind: 'go', epoch: breaker.epoch };
}

/**
 * Reports the outcome of a call. Changes the breaker in place.
 * @param random between 0 and 1: processes that saw the same outage must not probe together
 */
export function leave(
  breaker: Breaker,
  epoch: number,
  outcome: Outcome,
  nowMs: number,
  random: number,
): void {
  if (epoch !== breaker.epoch) return;
  breaker.inFlight--;
  if (outcome.kind === 'unknown') return;
  if (outcome.kind === 'answered') {
    if (breaker.openingsInRow > 0) breaker.recoveredAtMs = nowMs;
    breaker.openingsInRow = 0;
    breaker.failuresInRow = 0;
    breaker.window++;
    breaker.openUntilMs = Math.min(breaker.openUntilMs, nowMs);
    return;
  }
  breaker.failuresInRow++;
  const probing = breaker.openingsInRow > 0;
  if (outcome.retryAfterMs > 0) {
    // The provider responds but is overloaded: continue with half of the window.
    const half = Math.max(1, Math.floor(breaker.inFlight / 2));
    const untilMs = nowMs + Math.round(outcome.retryAfterMs * (1 + random / 10));
    open(breaker, untilMs, probing ? 1 : half);
  } else if (probing || breaker.failuresInRow >= failuresMax) {
    const pauseMs = Math.min(pauseMsMax, firstPauseMs * 2 ** breaker.openingsInRow);
    open(breaker, nowMs + pauseMs * (0.5 + random), 1);
  }
}

function open(breaker: Breaker, untilMs: number, window: number): void {
  breaker.openUntilMs = untilMs;
  breaker.window = window;
  breaker.openingsInRow++;
  breaker.epoch++;
  breaker.inFlight = 0;
}
