import type { Stage } from './agent.ts';

/**
 * Rate limits and quota as pure arithmetic on windows. A window is a calendar-aligned UTC minute, hour, day or month,
 * identified by its number since 1970. Decisions are made while the row with the counts is locked.
 */

export const windows = ['minute', 'hour', 'day'] as const;
export type Window = (typeof windows)[number];

export interface RateLimits {
  readonly requestsPerMinute: number | null;
  readonly requestsPerHour: number | null;
  readonly requestsPerDay: number | null;
}

export const noLimits: RateLimits = {
  requestsPerMinute: null,
  requestsPerHour: null,
  requestsPerDay: null,
};
export const keyDefaultLimits: RateLimits = {
  requestsPerMinute: 100,
  requestsPerHour: 5_000,
  requestsPerDay: 100_000,
};

/** The counts of one key or agent: for each window its number and the calls admitted. */
export interface Counts {
  minute: number;
  minuteUsed: number;
  hour: number;
  hourUsed: number;
  day: number;
  dayUsed: number;
}

/** The state of one window after a call, or when it is read. */
export interface WindowState {
  readonly scope: 'key' | 'agent' | 'stage';
  /** The stored id of the key, if a call was counted for one. */
  readonly apiKeyId?: string;
  readonly window: Window;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetAtMs: number;
}

export type Verdict =
  | { readonly passed: true; readonly states: WindowState[] }
  | { readonly passed: false; readonly states: WindowState[]; readonly by: WindowState };

const lengthMs: Record<Window, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const field = {
  minute: 'requestsPerMinute',
  hour: 'requestsPerHour',
  day: 'requestsPerDay',
} as const;
const usedField = { minute: 'minuteUsed', hour: 'hourUsed', day: 'dayUsed' } as const;

/** Rolls the counts over to the windows of `nowMs`. A window never moves backwards, whatever the clock does. */
export function roll(counts: Counts, nowMs: number): void {
  for (const window of windows) {
    const number = Math.floor(nowMs / lengthMs[window]);
    if (number > counts[window]) {
      counts[window] = number;
      counts[usedField[window]] = 0;
    }
  }
}

/**
 * Admits one call or not. Every window of the scope must have room; a refused call spends none of them. `counts` must
 * be rolled over and are changed in place. The verdict names the last of the full windows to reset.
 */
export function spend(counts: Counts, limits: ScopedLimit[]): Verdict {
  return spendAll(
    new Set([counts]),
    limits.map((limit) => ({ counts, limit })),
  );
}

/** The windows of a key or of one that issued it. */
export interface KeyWindows {
  readonly apiKeyId: string;
  readonly limits: RateLimits;
  readonly counts: Counts;
}

/**
 * Like `spend`, for a call with a key: it counts for the key and for all keys that issued it. If one of them has no room,
 * none is spent. Rolls the counts over.
 */
export function spendKeys(keys: readonly KeyWindows[], nowMs: number): Verdict {
  // A key and the key that it replaced have the same counts.
  const distinct = new Set(keys.map(({ counts }) => counts));
  for (const counts of distinct) roll(counts, nowMs);
  const limits = keys.flatMap(({ apiKeyId, limits, counts }) =>
    keyLimits(limits).map((limit) => ({ apiKeyId, counts, limit })),
  );
  return spendAll(distinct, limits);
}

interface CountedLimit {
  readonly apiKeyId?: string;
  readonly counts: Counts;
  readonly limit: ScopedLimit;
}

/** Spends one call in all counts if every limit has room. Among equal windows the first limit decides. */
function spendAll(all: ReadonlySet<Counts>, limits: readonly CountedLimit[]): Verdict {
  const passed = limits.every(({ counts, limit }) => counts[usedField[limit.window]] < limit.limit);
  if (passed) for (const counts of all) for (const window of windows) counts[usedField[window]]++;
  const states = limits.map(({ counts, limit, ...key }) => ({ ...state(counts, limit), ...key }));
  if (passed) return { passed, states };
  const full = states.filter(({ used, limit }) => used >= limit);
  const by = full.sort((a, b) => b.resetAtMs - a.resetAtMs)[0];
  return by ? { passed: false, states, by } : { passed: true, states };
}

/** The window states that a call at `nowMs` would meet. Spends nothing; `counts` are unchanged. */
export function peekWindows(counts: Counts, limits: ScopedLimit[], nowMs: number): WindowState[] {
  const now = { ...counts };
  roll(now, nowMs);
  return limits.map((limit) => state(now, limit));
}

export interface ScopedLimit {
  readonly scope: WindowState['scope'];
  readonly window: Window;
  readonly limit: number;
}

export function keyLimits(limits: RateLimits): ScopedLimit[] {
  const found: ScopedLimit[] = [];
  for (const window of windows) {
    const limit = limits[field[window]];
    if (limit !== null) found.push({ scope: 'key', window, limit });
  }
  return found;
}

/** An agent's limits, each capped by its stage's if lower; the scope says which of them applies. */
export function agentLimits(limits: RateLimits, stage: RateLimits): ScopedLimit[] {
  const found: ScopedLimit[] = [];
  for (const window of windows) {
    const own = limits[field[window]];
    const cap = stage[field[window]];
    if (own !== null && (cap === null || own <= cap)) {
      found.push({ scope: 'agent', window, limit: own });
    } else if (cap !== null) found.push({ scope: 'stage', window, limit: cap });
  }
  return found;
}

/** The caps of a stage. */
export function stageLimits(stage: Stage, testingLimits: RateLimits): RateLimits {
  return stage === 'Testing' ? testingLimits : noLimits;
}

/** The tightest window: the fewest calls remaining; among equals the longest. */
export function tightest<State extends Pick<WindowState, 'remaining' | 'resetAtMs'>>(
  states: readonly State[],
): State | undefined {
  let first: State | undefined;
  for (const one of states) {
    if (!first || one.remaining < first.remaining) first = one;
    else if (one.remaining === first.remaining && one.resetAtMs > first.resetAtMs) first = one;
  }
  return first;
}

/** Whole seconds until then, at least 1. */
export function secondsUntil(thenMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((thenMs - nowMs) / 1000));
}

/** The number of a UTC calendar month: months since 1970. */
export function monthOf(atMs: number): number {
  const date = new Date(atMs);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

/** The start of a month. */
export function monthStartMs(month: number): number {
  return Date.UTC(1970, month, 1);
}

/** The start of a window, in milliseconds. */
export function windowStartMs(window: Window, number: number): number {
  return number * lengthMs[window];
}

function state(counts: Counts, { scope, window, limit }: ScopedLimit): WindowState {
  const used = counts[usedField[window]];
  return {
    scope,
    window,
    limit,
    used,
    remaining: Math.max(0, limit - used),
    resetAtMs: windowStartMs(window, counts[window] + 1),
  };
}
