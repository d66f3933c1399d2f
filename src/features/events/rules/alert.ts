import type { NewEvent } from '../../../core/event/event.ts';
import { percentile } from '../../../core/history/statistics.ts';
import { toId } from '../../../core/id.ts';

/**
 * Alerts: a number about the calls of a window of whole minutes, and the value above which it fires.
 *
 *     ok | no_data ──above threshold──▶ firing ──at or below clearThreshold──▶ ok
 *
 * A window without enough calls has no value. `noData` decides: keep the state (`firing` stays, `ok` shows as `no_data`), count
 * as zero, or fire.
 */

/** `failureRate`, `quotaUsed` and `budgetUsed` are shares from 0 to 1, percentiles are milliseconds, `queueAge` is in seconds. */
export const alertMetrics = [
  'failureRate',
  'count',
  'p50',
  'p95',
  'costUSD',
  'costUnknown',
  'quotaUsed',
  'queueAge',
  'budgetUsed',
] as const;
export type AlertMetric = (typeof alertMetrics)[number];

export const noDataRules = ['keep', 'zero', 'fire'] as const;
export type NoDataRule = (typeof noDataRules)[number];

export const alertStates = ['ok', 'firing', 'no_data'] as const;
export type AlertState = (typeof alertStates)[number];

export const alertsMax = 100;
export const windowMinutesMax = 1_440;

/** A minute counts this long after its end, so that most of its calls have ended. */
export const settleSeconds = 10;

export interface AlertSettings {
  readonly name: string;
  readonly metric: AlertMetric;
  /** Stored ids; null for all agents. */
  readonly agentIds: readonly string[] | null;
  /** Only calls with this tag. */
  readonly tag: string | null;
  /** The stored id of the budget, of `budgetUsed`. */
  readonly budgetId: string | null;
  /** It fires above this value. */
  readonly threshold: number;
  /** It clears at or below this value. */
  readonly clearThreshold: number;
  readonly windowMinutes: number;
  /** With fewer calls there is no value. */
  readonly minCount: number;
  readonly noData: NoDataRule;
}

/** The settings that have no default, and others. */
export interface NewAlert
  extends Pick<AlertSettings, 'metric' | 'threshold'>,
    Partial<Omit<AlertSettings, 'metric' | 'threshold'>> {}

export const windowMinutesDefault = 15;
/** A share or percentile of fewer calls says little; a count or sum of them is what it is. */
export const minCountDefault = 20;

export function withDefaults(alert: NewAlert): AlertSettings {
  const { metric, threshold } = alert;
  const isOfMany = metric === 'failureRate' || metric === 'p50' || metric === 'p95';
  return {
    ...{ name: `${metric} above ${threshold}`, agentIds: null, tag: null, budgetId: null },
    ...{ clearThreshold: threshold, windowMinutes: windowMinutesDefault },
    ...{ minCount: isOfMany ? minCountDefault : 0, noData: 'keep' },
    ...alert,
  };
}

/** Metrics that are read as they are now, not from the calls of a window. */
export type CurrentMetric = Extract<AlertMetric, 'quotaUsed' | 'queueAge' | 'budgetUsed'>;

export function isCurrent(metric: AlertMetric): metric is CurrentMetric {
  return metric === 'quotaUsed' || metric === 'queueAge' || metric === 'budgetUsed';
}

/** Why the settings contradict each other; null if they do not. */
export function settingsProblem(settings: AlertSettings): string | null {
  const { metric, agentIds, tag, budgetId, threshold, clearThreshold } = settings;
  if (clearThreshold > threshold) return 'Field "clearThreshold" must not be above "threshold".';
  if ((metric === 'budgetUsed') !== (budgetId !== null)) {
    return 'The metric "budgetUsed", and no other, needs "budgetId".';
  }
  if (agentIds === null && tag === null) return null;
  if (metric === 'budgetUsed')
    return 'The budget says which calls count. Omit "agentIds" and "tag".';
  if (metric !== 'quotaUsed') return null;
  return 'The metric "quotaUsed" is about the workspace. Omit "agentIds" and "tag".';
}

/** The sums of the calls in a window. */
export interface CallSums {
  readonly occurred: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly costUsd: string;
  readonly costUnknown: number;
  /** The number of latencies per bin. */
  readonly latency: readonly number[];
}

/** The value of a metric; null with too few of the calls that it is about. */
export function measure(
  { metric, minCount }: Pick<AlertSettings, 'metric' | 'minCount'>,
  sums: CallSums,
): number | null {
  const { occurred, succeeded, failed } = sums;
  const ended = succeeded + failed;
  switch (metric) {
    case 'failureRate':
      return ended === 0 || ended < minCount ? null : failed / ended;
    case 'p50':
    case 'p95': {
      const measured = sums.latency.reduce((sum, n) => sum + n, 0);
      return measured < minCount ? null : percentile(sums.latency, metric === 'p50' ? 0.5 : 0.95);
    }
    default:
      if (occurred < minCount) return null;
      if (metric === 'count') return occurred;
      return metric === 'costUSD' ? Number(sums.costUsd) : sums.costUnknown;
  }
}

/** The used share of a plan; null without a limit. */
export function shareOfQuota(used: number, actionsPerMonth: number | null): number | null {
  if (actionsPerMonth === null) return null;
  return actionsPerMonth === 0 ? 1 : used / actionsPerMonth;
}

/** The state after a value. */
export function nextState(
  { threshold, clearThreshold, noData }: AlertSettings,
  state: AlertState,
  measured: number | null,
): AlertState {
  const value = measured === null && noData === 'zero' ? 0 : measured;
  if (value === null) {
    if (noData === 'fire') return 'firing';
    return state === 'firing' ? 'firing' : 'no_data';
  }
  if (state === 'firing') return value <= clearThreshold ? 'ok' : 'firing';
  return value > threshold ? 'firing' : 'ok';
}

/** The event of a change between firing and not firing; null for any other change. */
export function alertEvent(
  alert: Pick<AlertSettings, 'name' | 'metric' | 'threshold'> & {
    readonly id: string;
    readonly workspaceId: string;
  },
  change: {
    readonly from: AlertState;
    readonly to: AlertState;
    readonly value: number | null;
    readonly atMs: number;
  },
): NewEvent | null {
  const { id, workspaceId, name, metric, threshold } = alert;
  const { from, to, value, atMs } = change;
  if ((from === 'firing') === (to === 'firing')) return null;
  const data = JSON.stringify({ alertId: toId('alert', id), name, metric, value, threshold });
  return {
    ...{ workspaceId, type: to === 'firing' ? 'alert.fired' : 'alert.cleared', atMs },
    ...{ subject: id, agentId: null, user: null, data },
  };
}
