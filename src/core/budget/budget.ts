import type { NewEvent } from '../event/event.ts';
import { defaultOutputTokens } from '../model/call-bound.ts';

/** Budgets as admission and runs read them: which windows a call counts for. */

export const budgetPers = ['none', 'agent', 'key', 'user'] as const;
export type BudgetPer = (typeof budgetPers)[number];

export const budgetPeriods = ['hour', 'day', 'week', 'month', 'total'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** What a call of a model without a known price does. */
export const unknownPriceRules = ['refuse', 'count_zero'] as const;
export type UnknownPriceRule = (typeof unknownPriceRules)[number];

export interface Budget {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  /** Null, like the next two: of any. */
  readonly agentIds: readonly string[] | null;
  /** The limit subjects of its keys: a rotated key shares that of the key it replaced. */
  readonly keys: readonly string[] | null;
  readonly tags: readonly string[] | null;
  readonly per: BudgetPer;
  readonly period: BudgetPeriod;
  /** Decimal text. */
  readonly limitUsd: string;
  readonly maxTokens: number;
  /** In percent of the limit. */
  readonly thresholds: readonly number[];
  readonly onUnknown: UnknownPriceRule;
  readonly createdMs: number;
  /** Whether it has so many windows that new buckets share one. */
  readonly isFull: boolean;
  /** Whether it is the limit of a workflow run. */
  readonly ofRun?: true;
  /** Changed in place under the lock. */
  readonly events: BudgetEvents;
}

/** A limit of the cost of a workflow run, `maxCostUSD`. It never changes. */
export interface RunLimit {
  readonly runId: string;
  readonly workspaceId: string;
  /** Decimal text. */
  readonly limitUsd: string;
}

/** The limit as a budget: all calls of its steps share one window, and it writes no events. */
export function runBudget({ runId, workspaceId, limitUsd }: RunLimit): Budget {
  return {
    ...{ id: runId, workspaceId, name: '', ofRun: true },
    ...{ agentIds: null, keys: null, tags: null, per: 'none', period: 'total', createdMs: 0 },
    ...{ limitUsd, maxTokens: defaultOutputTokens, onUnknown: 'refuse' },
    ...{ thresholds: [], isFull: false },
    events: { hour: 0, written: 0, withheld: 0, lastWithheld: null },
  };
}

/** The events of a budget in an hour, which is counted since 1970. */
export interface BudgetEvents {
  hour: number;
  written: number;
  withheld: number;
  lastWithheld: NewEvent | null;
}

/** A model call, as far as budgets tell calls apart. */
export interface BudgetedCall {
  readonly agentId: string;
  /** The limit subjects of its key and of the keys that issued it; empty without a key. */
  readonly keys: readonly string[];
  readonly user: string | null;
  readonly tags: readonly string[];
  /** The limit of its workflow run; null for none. */
  readonly run: RunLimit | null;
}

/** A window of a budget, with the bucket that a call falls into. */
export interface WindowKey {
  readonly budgetId: string;
  readonly bucket: string;
  /** Its start, ISO 8601. */
  readonly window: string;
}

/** What one call may cost at most in a window. It is stored with the live execution. */
export interface Reservation extends WindowKey {
  /** Decimal text. */
  readonly usd: string;
}

export interface MatchedWindow extends WindowKey {
  readonly budget: Budget;
  /** Null: it never ends. */
  readonly endMs: number | null;
}

/** Above so many windows of a budget, new buckets share one. */
export const windowsMax = 1_000_000;
export const sharedBucket = 'other';

/** The windows of these budgets that a call at `nowMs` counts for: several of a budget per key, whose issuers count too. */
export function matchWindows(
  budgets: readonly Budget[],
  call: BudgetedCall,
  nowMs: number,
): MatchedWindow[] {
  const matching = budgets.filter((budget) => matches(budget, call));
  if (call.run) matching.push(runBudget(call.run));
  return matching.flatMap((budget) => {
    const { window, endMs } = currentPeriod(budget, nowMs);
    return bucketsOf(budget, call).map((bucket) => {
      return { budgetId: budget.id, bucket, window, budget, endMs };
    });
  });
}

interface CurrentPeriod {
  readonly nowMs: number;
  readonly window: string;
  readonly endMs: number | null;
}

/** All calls of a batch have the same time. */
const currentPeriods = new WeakMap<Budget, CurrentPeriod>();

function currentPeriod(budget: Budget, nowMs: number): CurrentPeriod {
  const known = currentPeriods.get(budget);
  if (known?.nowMs === nowMs) return known;
  const { startMs, endMs } = budgetPeriod(budget, nowMs);
  const period = { nowMs, window: new Date(startMs).toISOString(), endMs };
  currentPeriods.set(budget, period);
  return period;
}

function matches({ agentIds, keys, tags }: Budget, call: BudgetedCall): boolean {
  return (
    (agentIds === null || agentIds.includes(call.agentId)) &&
    (keys === null || call.keys.some((key) => keys.includes(key))) &&
    (tags === null || call.tags.some((tag) => tags.includes(tag)))
  );
}

function bucketsOf({ per }: Budget, { agentId, keys, user }: BudgetedCall): readonly string[] {
  switch (per) {
    case 'none':
      return [''];
    case 'agent':
      return [agentId];
    case 'key':
      return keys.length > 0 ? [...new Set(keys)] : [''];
    case 'user':
      return [user ?? ''];
  }
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** 1 January 1970 was a Thursday. */
const mondayMs = 4 * dayMs;

/** The period that contains `nowMs`, in UTC. Weeks begin on Monday. */
export function budgetPeriod(
  { period, createdMs }: Pick<Budget, 'period' | 'createdMs'>,
  nowMs: number,
): { readonly startMs: number; readonly endMs: number | null } {
  const date = new Date(nowMs);
  switch (period) {
    case 'hour':
      return ofLength(nowMs, hourMs, 0);
    case 'day':
      return ofLength(nowMs, dayMs, 0);
    case 'week':
      return ofLength(nowMs, 7 * dayMs, mondayMs);
    case 'month':
      return {
        startMs: Date.UTC(date.getUTCFullYear(), date.getUTCMonth()),
        endMs: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1),
      };
    case 'total':
      return { startMs: createdMs, endMs: null };
  }
}

function ofLength(nowMs: number, lengthMs: number, offsetMs: number) {
  const startMs = Math.floor((nowMs - offsetMs) / lengthMs) * lengthMs + offsetMs;
  return { startMs, endMs: startMs + lengthMs };
}
