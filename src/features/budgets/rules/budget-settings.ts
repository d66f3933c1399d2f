import type { BudgetPer, BudgetPeriod, UnknownPriceRule } from '../../../core/budget/budget.ts';
import { floatToUnits, toDecimal } from '../../../core/decimal.ts';
import { invalidRequest } from '../../../core/failure.ts';
import { defaultOutputTokens } from '../../../core/model/call-bound.ts';

/** Budgets: what calls may spend in a window, together or each agent, key or user for itself. */

/** Which calls a budget counts: those with one of each of these lists. Null: with any. */
export interface BudgetScope {
  /** Stored ids. */
  readonly agentIds: readonly string[] | null;
  /** Stored ids. */
  readonly apiKeyIds: readonly string[] | null;
  readonly tags: readonly string[] | null;
}

export interface BudgetSettings extends BudgetScope {
  readonly name: string;
  readonly per: BudgetPer;
  readonly period: BudgetPeriod;
  /** Decimal text. */
  readonly limitUsd: string;
  readonly maxTokens: number;
  /** Percent, ascending. */
  readonly thresholds: readonly number[];
  readonly onUnknown: UnknownPriceRule;
  readonly enabled: boolean;
}

export const budgetsMax = 100;
/** Enabled budgets that one call may match: it locks a window of each. */
export const matchingBudgetsMax = 5;
export const scopeMax = 100;
export const limitUSDMax = 1_000_000_000;
export const budgetDefaults = {
  maxTokens: defaultOutputTokens,
  thresholds: [50, 80, 100],
  onUnknown: 'refuse',
  enabled: true,
} as const;

const places = 10;
const tenthPlace = 10n ** 14n;

/** The limit as decimal text. */
export function limitOf(limitUSD: number): string {
  const units = floatToUnits(limitUSD);
  if (units !== null && units % tenthPlace === 0n) return toDecimal(units, 1n, places);
  throw invalidRequest('Field "limitUSD" must have at most ten decimal places.');
}

/** What of a budget decides which calls match it. */
export interface MatchedBudget extends Pick<BudgetScope, 'agentIds'> {
  /** The keys of its scope, each as the key whose limits it shares: itself, or what it was rotated from. */
  readonly keys: readonly ScopedKey[] | null;
}

export interface ScopedKey {
  readonly limitSubject: string;
  /** Whether it may issue and rotate keys, whose calls then count for it too. */
  readonly issues: boolean;
}

/**
 * The number of these budgets that one call can match, now or after any change of keys. A call has one agent and up to ten
 * tags of its choice, of which budgets for tags need one each. It counts for its key and for all that issued it. A key that
 * issues can become the issuer of any other, by rotating it, so a call can match the budgets of all of those. Of keys that do
 * not issue, a call has only its own.
 */
export function matchedAtOnce(budgets: readonly MatchedBudget[]): number {
  const perAgent = new Counts();
  const perKey = new Counts();
  let others = 0;
  for (const { agentIds, keys } of budgets) {
    if (agentIds) perAgent.add(agentIds);
    else if (keys?.every(({ issues }) => !issues))
      perKey.add(keys.map(({ limitSubject }) => limitSubject));
    else others++;
  }
  return others + perAgent.largest + perKey.largest;
}

class Counts {
  readonly #counts = new Map<string, number>();
  largest = 0;

  add(names: readonly string[]): void {
    for (const name of new Set(names)) {
      const count = (this.#counts.get(name) ?? 0) + 1;
      this.#counts.set(name, count);
      this.largest = Math.max(this.largest, count);
    }
  }
}
