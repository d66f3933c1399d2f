import { type AgentConfig, effective, type ModelSettings } from '../agent/model-settings.ts';
import type { PromptSize } from '../agent/prompt-size.ts';
import type { BudgetWindow } from '../budget/reserve.ts';
import { floatToUnits, toUnits } from '../decimal.ts';
import { type CallFailureCode, costLimitError, noBound } from '../failure.ts';
import { callBound, defaultOutputTokens, type PriceLookup } from '../model/call-bound.ts';
import type { ModelSetup } from '../model/model-port.ts';
import { type Caller, seesCosts } from '../people/caller.ts';

/**
 * The limit of the cost of an execution, `maxCostUSD`: the lower one of the agent and of the call. Before each call of a model, what
 * was spent and the bound of the call must fit into it. A call whose cost is unknown counts with its bound, because its provider
 * may have charged it: it broke off, or its worker was lost.
 */

/** Null for no limit. */
export function costLimitOf(
  { maxCostUSD: own }: Pick<AgentConfig, 'maxCostUSD'>,
  { maxCostUSD: asked }: { readonly kind: string; readonly maxCostUSD?: number },
): number | null {
  const limits = [own, asked].filter((limit) => limit !== undefined);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** Whether the bound of a call must be known before it is accepted. */
export function needsBound(
  { config, isBudgeted }: Pick<PricedAgent, 'config'> & { readonly isBudgeted: boolean },
  body: { readonly kind: string; readonly maxCostUSD?: number },
): boolean {
  return isBudgeted || costLimitOf(config, body) !== null;
}

/** Whether amounts of US dollars, decimal texts, fit into a limit together. */
export function fitsLimit(maxCostUSD: number, ...amounts: readonly string[]): boolean {
  const total = amounts.reduce((sum, amount) => sum + (toUnits(amount) ?? 0n), 0n);
  return total <= (floatToUnits(maxCostUSD) ?? 0n);
}

/** What an accepted call under a limit of cost or a budget has beside its settings. */
export interface AcceptedCost {
  /** Null if only budgets limit it. */
  readonly maxCostUSD: number | null;
  /** Of a call of the model. */
  readonly maxTokens: number;
  /** The bound of the first call, in US dollars; null if it has none, and its budgets count it as nothing. */
  readonly boundUsd: string | null;
}

export interface CostRefusal {
  readonly code: CallFailureCode;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What the price of an agent's call depends on. */
export interface PricedAgent {
  readonly workspaceId: string;
  readonly config: AgentConfig;
  readonly version: ModelSettings;
  /** Of its first model. */
  readonly setup: ModelSetup;
}

/** Whether the first call of the model fits into the limit. */
export function checkCost(
  { rates }: PriceLookup,
  caller: Caller,
  agent: PricedAgent,
  {
    maxCostUSD,
    windows,
    size,
  }: {
    readonly maxCostUSD: number | null;
    readonly windows: readonly BudgetWindow[];
    readonly size: PromptSize;
  },
): AcceptedCost | CostRefusal {
  const { workspaceId, setup, config, version } = agent;
  const { model, maxTokens: own, settings } = effective(config, version);
  const found = rates({ workspaceId, model: model ?? '', setup, settings });
  const maxTokens = own ?? defaultMaxTokens(maxCostUSD, windows);
  const bound = found.kind === 'rates' ? callBound(size, maxTokens, found) : found;
  if (bound.kind === 'unbounded') {
    const isLenient = windows.every(({ budget }) => budget.onUnknown === 'count_zero');
    if (maxCostUSD === null && isLenient && bound.option === null)
      return { maxCostUSD, maxTokens, boundUsd: null };
    // It names settings of the agent and of the provider.
    const message = caller.rights.includes('read') ? bound.reason : noBound;
    return { code: 'PRICE_UNKNOWN', message, fields: {} };
  }
  const { usd: boundUsd } = bound;
  if (maxCostUSD === null || fitsLimit(maxCostUSD, boundUsd))
    return { maxCostUSD, maxTokens, boundUsd };
  const isShown = seesCosts(caller);
  return {
    code: 'COST_LIMIT_TOO_LOW',
    message: isShown
      ? `One call of the model may cost up to ${boundUsd} USD, which is more than the limit of ${maxCostUSD} USD. Raise "maxCostUSD", lower "maxTokens" (${maxTokens}), or shorten the prompt.`
      : 'The limit of cost is too low for one call of the model.',
    fields: isShown ? { maxCostUSD, neededUSD: Number(boundUsd) } : {},
  };
}

/** The lowest of those that limit the call. */
function defaultMaxTokens(maxCostUSD: number | null, windows: readonly BudgetWindow[]): number {
  const ofBudgets = windows.map(({ budget }) => budget.maxTokens);
  return Math.min(...ofBudgets, ...(maxCostUSD === null ? [] : [defaultOutputTokens]));
}

/** Why the next call of the model is not sent. */
export function costLimitMessage(
  maxCostUSD: number,
  { spentUsd, neededUsd }: { readonly spentUsd: string; readonly neededUsd: string },
): string {
  return `${costLimitError}: the limit is ${maxCostUSD} USD, ${spentUsd} USD are spent or may have been charged, and the call may cost up to ${neededUsd} USD.`;
}
