import { CallFailure, notFound, requireFound } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { same } from '../../../core/json.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type Precondition, refuseStale } from '../../../core/precondition.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { requireBoundedAgents } from '../../../engine/budgets/require-bounded.ts';
import { lockLimits } from '../../../engine/fields/limit-rows.ts';
import { countVisibleAgents } from '../../people/statements/keys.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import {
  type BudgetSettings,
  budgetsMax,
  matchedAtOnce,
  matchingBudgetsMax,
} from '../rules/budget-settings.ts';
import * as store from '../statements/budgets-statements.ts';

/**
 * Creates, changes and deletes budgets. Admission reads them under the lock of the workspace's limits, which these take first:
 * what they answer holds for every later call.
 *
 * One that is a step of a declaration does not check what other steps may make true: the declaration checks its result.
 */

export async function createBudget(
  db: Db,
  caller: Caller,
  settings: BudgetSettings,
  isStep = false,
): Promise<store.BudgetRow> {
  const { workspaceId, userId: createdBy } = caller;
  return inTransaction(db, async (trx) => {
    await lockLimits(trx, [workspaceId]);
    const others = await store.listBudgets(trx, workspaceId);
    await requireCreatable(trx, others.length);
    requireFreeName(others, settings.name);
    await requireScope(trx, caller, settings);
    const id = uuid7(await readClock(trx));
    await store.insertBudget(trx, { ...settings, id, workspaceId, createdBy });
    if (!isStep && countsMore(null, settings)) {
      await requireFewMatching(trx, workspaceId);
      await requireBoundedAgents(trx, workspaceId, settings);
    }
    const { name, per, period, limitUsd: limitUSD } = settings;
    await auditChange(trx, caller, 'budget.create', id, { name, per, period, limitUSD });
    return requireFound(await store.findBudget(trx, workspaceId, id), 'budget');
  });
}

export async function changeBudget(
  db: Db,
  caller: Caller,
  id: string,
  change: Partial<BudgetSettings>,
  isCurrent: Precondition,
  isStep = false,
): Promise<store.BudgetRow> {
  const { workspaceId } = caller;
  return inTransaction(db, async (trx) => {
    await lockLimits(trx, [workspaceId]);
    const budgets = await store.listBudgets(trx, workspaceId);
    const row = requireFound(
      budgets.find((one) => one.id === id),
      'budget',
    );
    refuseStale(row.revision, isCurrent);
    requireSameWindows(row, change);
    const fields = (Object.keys(change) as (keyof BudgetSettings)[]).filter(
      (field) => !same(change[field], row[field]),
    );
    if (fields.length === 0) return row;
    const settings = { ...row, ...change };
    if (fields.includes('name')) requireFreeName(budgets, settings.name);
    await requireScope(trx, caller, change);
    await store.writeBudget(trx, id, settings);
    if (!isStep && countsMore(row, settings)) {
      await requireFewMatching(trx, workspaceId);
      await requireBoundedAgents(trx, workspaceId, settings);
    }
    await auditChange(trx, caller, 'budget.change', id, { fields });
    return requireFound(await store.findBudget(trx, workspaceId, id), 'budget');
  });
}

/** What its calls have reserved is dropped with its windows. */
export async function deleteBudget(
  db: Db,
  caller: Caller,
  id: string,
  isCurrent: Precondition,
): Promise<void> {
  const { workspaceId } = caller;
  await inTransaction(db, async (trx) => {
    await lockLimits(trx, [workspaceId]);
    const { revision } = requireFound(await store.findBudget(trx, workspaceId, id), 'budget');
    refuseStale(revision, isCurrent);
    await store.deleteBudget(trx, id);
    await auditChange(trx, caller, 'budget.delete', id);
  });
}

/** Whether a call may match it that did not. */
export function countsMore(before: BudgetSettings | null, after: BudgetSettings): boolean {
  const widening = ['agentIds', 'apiKeyIds', 'tags', 'enabled'] as const;
  return (
    after.enabled &&
    (before === null || widening.some((field) => !same(before[field], after[field])))
  );
}

export async function requireCreatable(trx: Trx, existing: number): Promise<void> {
  if (existing >= budgetsMax) {
    throw new CallFailure('CONFLICT', `A workspace has at most ${budgetsMax} budgets.`);
  }
  if (!(await store.hasCarelessWorkers(trx))) return;
  const message =
    'Workers of an earlier version, which keep no budgets, still run. Create it once they have stopped.';
  throw new CallFailure('UNAVAILABLE', message);
}

/** What it has spent belongs to its windows. */
export function requireSameWindows(row: BudgetSettings, change: Partial<BudgetSettings>): void {
  for (const field of ['per', 'period'] as const) {
    const { [field]: value = row[field] } = change;
    if (value === row[field]) continue;
    const message = `Field "${field}" cannot be changed: it is "${row[field]}". Create another budget.`;
    throw new CallFailure('CONFLICT', message);
  }
}

/** The declaration and the command line find budgets by name. */
function requireFreeName(budgets: readonly store.BudgetRow[], name: string): void {
  if (budgets.every((one) => one.name !== name)) return;
  throw new CallFailure('CONFLICT', `There already is a budget "${name}".`);
}

async function requireScope(
  trx: Trx,
  caller: Caller,
  { agentIds = null, apiKeyIds = null }: Partial<BudgetSettings>,
): Promise<void> {
  const { role, workspaceId } = caller;
  if (agentIds && role !== null) {
    const visible = await countVisibleAgents(trx, { ...caller, role }, agentIds);
    if (visible < agentIds.length) throw notFound('agent');
  }
  if (apiKeyIds && (await store.countKeys(trx, workspaceId, apiKeyIds)) < apiKeyIds.length) {
    throw notFound('API key');
  }
}

/**
 * Every call locks the windows of the budgets that it matches.
 * @param planned in place of those that are stored with their ids; none for some API keys
 */
export async function requireFewMatching(
  trx: Trx,
  workspaceId: string,
  planned: readonly (BudgetSettings & { readonly id: string })[] = [],
): Promise<void> {
  const ids = new Set(planned.map(({ id }) => id));
  const stored = await store.readMatchedBudgets(trx, workspaceId);
  const matched = matchedAtOnce([
    ...stored.filter(({ id }) => !ids.has(id)),
    ...planned.filter(({ enabled }) => enabled).map(({ agentIds }) => ({ agentIds, keys: null })),
  ]);
  if (matched <= matchingBudgetsMax) return;
  const message = `One call could match ${matched} enabled budgets, and ${matchingBudgetsMax} are allowed. Disable one, or give its scope other agents or keys.`;
  throw new CallFailure('CONFLICT', message);
}
