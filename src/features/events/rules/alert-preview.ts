import { monthOf } from '../../../core/agent/limits.ts';
import { toDecimal, toUnits } from '../../../core/decimal.ts';
import { levelMs } from '../../../core/history/statistics.ts';
import {
  type AlertSettings,
  type AlertState,
  type CallSums,
  measure,
  nextState,
  shareOfQuota,
} from './alert.ts';

/** When an alert would have fired. */

/** The calls of one minute. */
export interface MinuteSums extends CallSums {
  readonly startMs: number;
}

/** The calls of a minute or hour that were not refused: each uses one AI Action. */
export interface AcceptedCalls {
  readonly startMs: number;
  readonly accepted: number;
}

/** A time in which calls waited for their start. */
export interface Wait {
  /** The acceptance of the oldest one. */
  readonly fromMs: number;
  /** The last whole minute before the start; null if it has not started. */
  readonly lastMs: number | null;
}

/** The value at a whole minute; null without data. Asked for one minute after the other. */
export type ValueAt = (atMs: number) => number | null;

export interface Firing {
  readonly firedAtMs: number;
  /** Null if it still fires at the end. */
  readonly clearedAtMs: number | null;
}

export interface PreviewValue {
  readonly atMs: number;
  readonly value: number | null;
}

/** Enough for a chart. */
const valuesMax = 300;

/**
 * Evaluates every minute from `fromMs` to `toMs`, both whole minutes.
 * @returns the firings, and the highest value of each of at most 300 steps
 */
export function previewAlert(
  settings: AlertSettings,
  valueAt: ValueAt,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): { readonly firings: Firing[]; readonly values: PreviewValue[] } {
  const firings: Firing[] = [];
  const values: PreviewValue[] = [];
  const stepMs = Math.ceil((toMs - fromMs) / levelMs.minute / valuesMax) * levelMs.minute;
  let state: AlertState = 'ok';
  for (let atMs = fromMs; atMs <= toMs; atMs += levelMs.minute) {
    const value = valueAt(atMs);
    const next = nextState(settings, state, value);
    if (next === 'firing' && state !== 'firing') {
      firings.push({ firedAtMs: atMs, clearedAtMs: null });
    }
    if (next !== 'firing' && state === 'firing') {
      firings.push({ firedAtMs: firings.pop()?.firedAtMs ?? atMs, clearedAtMs: atMs });
    }
    state = next;
    addValue(values, { atMs, value }, stepMs);
  }
  return { firings, values };
}

/**
 * Measures the window before each minute.
 * @param minutes oldest first, from one window before the first minute on; minutes without calls may be missing
 */
export function windowValues(settings: AlertSettings, minutes: readonly MinuteSums[]): ValueAt {
  const window = new Window();
  let [entering, leaving] = [0, 0];
  return (atMs) => {
    for (; startOf(minutes[entering]) < atMs; entering++) window.add(minutes[entering], 1);
    const startMs = atMs - settings.windowMinutes * levelMs.minute;
    for (; leaving < entering && startOf(minutes[leaving]) < startMs; leaving++) {
      window.add(minutes[leaving], -1);
    }
    return measure(settings, window.sums());
  };
}

/**
 * The used share of a monthly quota.
 * @param calls oldest first, from the start of the first month on
 */
export function quotaValues(
  calls: readonly AcceptedCalls[],
  actionsPerMonth: number | null,
): ValueAt {
  let [entering, month, used] = [0, Number.NaN, 0];
  return (atMs) => {
    for (let one = calls[entering]; one && one.startMs < atMs; one = calls[++entering]) {
      if (monthOf(one.startMs) !== month) [month, used] = [monthOf(one.startMs), 0];
      used += one.accepted;
    }
    return shareOfQuota(month === monthOf(atMs) ? used : 0, actionsPerMonth);
  };
}

/**
 * How long the oldest waiting call has waited, in seconds; 0 if none waits.
 * @param waits oldest first
 */
export function queueAges(waits: readonly Wait[]): ValueAt {
  let oldest = 0;
  return (atMs) => {
    while (waits[oldest] && (waits[oldest]?.lastMs ?? atMs) < atMs) oldest++;
    const fromMs = waits[oldest]?.fromMs ?? atMs;
    return Math.max(0, atMs - fromMs) / 1_000;
  };
}

function startOf(minute: MinuteSums | undefined): number {
  return minute?.startMs ?? Number.POSITIVE_INFINITY;
}

/** Keeps the highest value of each step. */
function addValue(values: PreviewValue[], { atMs, value }: PreviewValue, stepMs: number): void {
  const last = values.at(-1);
  if (last === undefined || atMs - last.atMs >= stepMs) values.push({ atMs, value });
  else if (value !== null && value > (last.value ?? Number.NEGATIVE_INFINITY)) {
    values[values.length - 1] = { atMs: last.atMs, value };
  }
}

/** A sliding sum. Money is added up as integers, so that nothing is left over when minutes leave. */
class Window {
  readonly #latency: number[] = [];
  #occurred = 0;
  #succeeded = 0;
  #failed = 0;
  #costUnknown = 0;
  #costUnits = 0n;

  add(minute: MinuteSums | undefined, sign: 1 | -1): void {
    if (!minute) return;
    this.#occurred += sign * minute.occurred;
    this.#succeeded += sign * minute.succeeded;
    this.#failed += sign * minute.failed;
    this.#costUnknown += sign * minute.costUnknown;
    this.#costUnits += BigInt(sign) * (toUnits(minute.costUsd) ?? 0n);
    for (const [bin, n] of minute.latency.entries()) {
      this.#latency[bin] = (this.#latency[bin] ?? 0) + sign * n;
    }
  }

  sums(): CallSums {
    return {
      ...{ occurred: this.#occurred, succeeded: this.#succeeded, failed: this.#failed },
      ...{ costUnknown: this.#costUnknown, latency: this.#latency },
      costUsd: toDecimal(this.#costUnits, 1n, 10),
    };
  }
}
