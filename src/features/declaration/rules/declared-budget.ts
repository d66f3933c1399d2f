import type { UnknownPriceRule } from '../../../core/budget/budget.ts';
import { toId } from '../../../core/id.ts';
import { same } from '../../../core/json.ts';
import {
  type BudgetSettings,
  budgetDefaults,
  limitOf,
} from '../../budgets/rules/budget-settings.ts';
import type { FieldChange } from './declaration.ts';

/** Budgets as a `cueline.yaml` file declares them: agents by name, and no keys, which have none. */

export interface DeclaredBudget extends Pick<BudgetSettings, 'name' | 'per' | 'period'> {
  readonly scope?: DeclaredScope;
  readonly limitUSD: number;
  readonly maxTokens?: number;
  readonly thresholds?: readonly number[];
  readonly onUnknown?: UnknownPriceRule;
  readonly enabled?: boolean;
}

interface DeclaredScope {
  readonly agents?: readonly string[];
  readonly tags?: readonly string[];
}

/** The complete settings; `idOf` throws for an unknown name. */
export function budgetSettingsOf(
  { scope = {}, limitUSD, ...others }: DeclaredBudget,
  idOf: (agent: string) => string,
): BudgetSettings {
  const { agents, tags = null } = scope;
  const settings = { ...budgetDefaults, ...others, limitUsd: limitOf(limitUSD) };
  return {
    ...settings,
    thresholds: settings.thresholds.toSorted((one, other) => one - other),
    ...{ agentIds: agents ? agents.map(idOf) : null, apiKeyIds: null, tags },
  };
}

/** The fields that differ, as they are declared. */
export function budgetChanges(
  was: BudgetSettings,
  is: BudgetSettings,
  nameOf: (agentId: string) => string,
): FieldChange[] {
  const [from, to] = [was, is].map((one) => declareAll(one, nameOf));
  return (Object.keys(to ?? {}) as (keyof DeclaredBudget)[])
    .map((field) => ({ field, from: from?.[field], to: to?.[field] }))
    .filter((one) => !same(one.from, one.to));
}

/** The declaration of a budget; fields with their default value are left out. */
export function declareBudget(
  budget: BudgetSettings,
  nameOf: (agentId: string) => string,
): DeclaredBudget {
  const usual: Readonly<Record<string, unknown>> = { ...budgetDefaults, scope: {} };
  const declared = Object.entries(declareAll(budget, nameOf));
  return Object.fromEntries(
    declared.filter(([field, value]) => !same(value, usual[field] ?? null)),
  ) as unknown as DeclaredBudget;
}

function declareAll(budget: BudgetSettings, nameOf: (agentId: string) => string) {
  const { name, agentIds, apiKeyIds, tags, per, period, limitUsd } = budget;
  const { maxTokens, thresholds, onUnknown, enabled } = budget;
  const scope = {
    ...(agentIds && { agents: agentIds.map(nameOf) }),
    ...(apiKeyIds && { apiKeyIds: apiKeyIds.map((id) => toId('key', id)) }),
    ...(tags && { tags }),
  };
  const limitUSD = Number(limitUsd);
  return { name, scope, per, period, limitUSD, maxTokens, thresholds, onUnknown, enabled };
}
