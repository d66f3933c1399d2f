import { secondsUntil } from '../agent/limits.ts';
import { toDecimal, toUnits } from '../decimal.ts';
import { budgetError, costLimitError } from '../failure.ts';
import { toId } from '../id.ts';
import type { Budget, MatchedWindow, Reservation, WindowKey } from './budget.ts';

/**
 * Whether a model call fits its budgets: a pure decision on windows that are read and folded under the lock. What is reserved
 * and what is settled never exceed the limit together, so whatever the running calls cost, up to their bounds, the limit holds.
 */

/** The state of a window under the lock. Amounts are units of `decimal.ts`. */
export interface BudgetWindow extends MatchedWindow {
  reserved: bigint;
  settled: bigint;
  calls: number;
  unknownCalls: number;
  /** The thresholds whose event was written; 0 stands for the first refusal. */
  announced: readonly number[];
  /** Whether a call reserves in it, perhaps nothing. */
  isUsed?: true;
}

/** The bound of a call; null if it has none, because the price of its model is unknown. */
export type NeededUsd = string | null;

export type Reserved =
  | { readonly kind: 'reserved'; readonly reservations: readonly Reservation[] }
  /** A budget refuses calls without a bound. */
  | { readonly kind: 'unbounded' }
  | { readonly kind: 'exceeded'; readonly window: BudgetWindow; readonly neededUsd: string };

/** Reserves the bound of a call in all windows, or in none. */
export function reserve(windows: readonly BudgetWindow[], bound: NeededUsd): Reserved {
  if (bound === null && windows.some(({ budget }) => budget.onUnknown === 'refuse')) {
    return { kind: 'unbounded' };
  }
  const usd = bound ?? '0';
  const needed = unitsOf(usd);
  const full = windows.filter((window) => !hasRoom(window, needed));
  const window = full.sort((a, b) => waitOrder(b, needed) - waitOrder(a, needed))[0];
  if (window) return { kind: 'exceeded', window, neededUsd: usd };
  for (const each of windows) {
    each.reserved += needed;
    each.isUsed = true;
  }
  const reservations = windows.map(({ budgetId, bucket, window: start }) => {
    return { budgetId, bucket, window: start, usd };
  });
  return { kind: 'reserved', reservations };
}

/** The same in place of what the call has reserved without being sent, which is not in its own way. */
export function reserveInstead(
  windows: readonly BudgetWindow[],
  bound: NeededUsd,
  before: readonly Reservation[],
): Reserved {
  const own = windows.map((window) => {
    const reservation = before.find((one) => isInWindow(one, window));
    return unitsOf(reservation?.usd ?? '0');
  });
  const change = (sign: bigint) => {
    for (const [at, window] of windows.entries()) window.reserved += sign * (own[at] ?? 0n);
  };
  change(-1n);
  const decision = reserve(windows, bound);
  if (decision.kind === 'reserved') return decision;
  // The refusal tells what is left without it.
  const refused = 'window' in decision ? { ...decision, window: { ...decision.window } } : decision;
  change(1n);
  return refused;
}

export function isInWindow({ budgetId, bucket, window }: WindowKey, other: WindowKey): boolean {
  return budgetId === other.budgetId && bucket === other.bucket && window === other.window;
}

function hasRoom(window: BudgetWindow, needed: bigint): boolean {
  return window.settled + window.reserved + needed <= limitOf(window.budget);
}

/** Whether the call does not fit even once all running calls have cost nothing. */
function isSpent({ settled, budget }: BudgetWindow, needed: bigint): boolean {
  return settled + needed > limitOf(budget);
}

/** Higher for the window that makes a call wait longer. */
function waitOrder(window: BudgetWindow, needed: bigint): number {
  return isSpent(window, needed) ? (window.endMs ?? Number.MAX_SAFE_INTEGER) : 0;
}

/** Only reservations are in the way: calls that are running may leave room when they end. */
const reservedRetrySeconds = 5;

export interface BudgetRefusal {
  /** Whether it never resets, so that no later call can fit: 403 instead of 429. */
  readonly isFinal: boolean;
  /** Whether it is spent; otherwise only calls that are running are in the way. */
  readonly isSpent: boolean;
  /** Of an execution whose later call it refuses, and of a step. */
  readonly code: 'BUDGET_EXCEEDED' | 'COST_LIMIT';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** @param showsMoney whether the caller may see costs */
export function budgetRefusal(
  { window, neededUsd }: Extract<Reserved, { kind: 'exceeded' }>,
  { nowMs, showsMoney }: { readonly nowMs: number; readonly showsMoney: boolean },
): BudgetRefusal {
  const { budget, endMs } = window;
  const spent = isSpent(window, unitsOf(neededUsd));
  const isFinal = spent && endMs === null;
  if (budget.ofRun) {
    const message = runLimitMessage(window, neededUsd);
    return { isFinal, isSpent: spent, code: 'COST_LIMIT', message, fields: {} };
  }
  const figures = figuresOf(window);
  const money = `: ${neededUsd} USD needed, ${leftText(window)} of ${usdOf(limitOf(budget))} left`;
  const wait = spent ? (endMs === null ? null : secondsUntil(endMs, nowMs)) : retrySeconds(window);
  const why = spent ? spentText(window, neededUsd) : 'is reserved by calls that are running';
  return {
    isFinal,
    isSpent: spent,
    code: 'BUDGET_EXCEEDED',
    message: `${budgetError}${budget.name}" ${why}${showsMoney ? money : ''}.`,
    fields: {
      ...(wait !== null && { retryAfter: wait }),
      limitedBy: {
        ...{ scope: 'budget', budgetId: toId('budget', budget.id), name: budget.name },
        window: budget.period,
        resetAt: endMs === null ? null : new Date(endMs).toISOString(),
        reason: spent ? 'spent' : 'reserved',
        ...(showsMoney && { ...figures, neededUSD: Number(neededUsd) }),
      },
    },
  };
}

function spentText({ budget }: BudgetWindow, neededUsd: string): string {
  const neverFits = unitsOf(neededUsd) > limitOf(budget);
  return neverFits ? 'is smaller than what this call may cost' : 'is spent';
}

/** Callers that see no costs get only its beginning (`withoutAmounts`). */
function runLimitMessage({ budget, settled, reserved }: BudgetWindow, neededUsd: string): string {
  const others = reserved > 0n ? ` ${usdOf(reserved)} USD are reserved by calls that run,` : '';
  return `${costLimitError} of the workflow run: the limit is ${budget.limitUsd} USD, ${usdOf(settled)} USD are spent or may have been charged,${others} and the call may cost up to ${neededUsd} USD.`;
}

/** Longer the fuller the window is, so that callers of a busy one do not return all at once. */
function retrySeconds({ reserved, budget }: BudgetWindow): number {
  const limit = limitOf(budget);
  const share = limit === 0n ? 1n : (reserved * BigInt(reservedRetrySeconds)) / limit;
  return Math.min(reservedRetrySeconds, Math.max(1, Number(share)));
}

export function figuresOf({ settled, reserved, budget }: BudgetWindow) {
  return {
    limitUSD: Number(budget.limitUsd),
    settledUSD: Number(usdOf(settled)),
    reservedUSD: Number(usdOf(reserved)),
  };
}

function leftText({ settled, reserved, budget }: BudgetWindow): string {
  const left = limitOf(budget) - settled - reserved;
  return usdOf(left > 0n ? left : 0n);
}

/** Of the budgets of a batch, whose calls all need it. */
const limits = new WeakMap<Budget, bigint>();

function limitOf(budget: Budget): bigint {
  const limit = limits.get(budget) ?? unitsOf(budget.limitUsd);
  limits.set(budget, limit);
  return limit;
}

/** Decimal places of money. */
const places = 10;

export function usdOf(units: bigint): string {
  return toDecimal(units, 1n, places);
}

/** @param usd not negative */
export function unitsOf(usd: string): bigint {
  const units = toUnits(usd);
  if (units === null) throw new Error(`${usd} is no amount of money.`);
  return units;
}
