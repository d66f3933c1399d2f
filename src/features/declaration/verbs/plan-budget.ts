import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { toId, uuid7 } from '../../../core/id.ts';
import { requireBoundedAgents } from '../../../engine/budgets/require-bounded.ts';
import {
  changeBudget,
  countsMore,
  createBudget,
  requireCreatable,
  requireSameWindows,
} from '../../budgets/verbs/change-budget.ts';
import { budgetChanges, budgetSettingsOf, type DeclaredBudget } from '../rules/declared-budget.ts';
import { type PlannedBudget, type Planning, StalePlan } from './planning.ts';

/** Plans a budget. */
export async function planBudget(planning: Planning, declared: DeclaredBudget): Promise<void> {
  const { trx, caller, nowMs, agents, budgets, changes, add } = planning;
  if (!caller.rights.includes('own')) {
    const message = 'Budgets in a declaration need the permission "own".';
    throw new CallFailure('PERMISSION_DENIED', message);
  }
  const { name } = declared;
  const settings = budgetSettingsOf(declared, (agent) => agentId(planning, agent));
  const known = budgets.find(name);
  const { id, revision } = known ?? { id: uuid7(nowMs), revision: 1 };
  const planned = { ...settings, id, revision };
  if (countsMore(known, planned)) checkCalls(planning, planned);
  if (!known) {
    await requireCreatable(trx, budgets.rows.length);
    changes.push({ kind: 'budget', name, action: 'create' });
    budgets.put(planned);
    add((at) => createBudget(at, caller, settings, true));
    return;
  }
  requireSameWindows(known, settings);
  const nameOf = (id: string) => agents.ofIds([id])[0]?.name ?? toId('agent', id);
  const fields = budgetChanges(known, settings, nameOf);
  if (fields.length === 0) return;
  changes.push(
    ...fields.map((one) => ({ kind: 'budget', name, action: 'change', ...one }) as const),
  );
  budgets.put(planned);
  const isCurrent = (current: number) => {
    if (current !== revision) throw new StalePlan();
    return true;
  };
  add((at) => changeBudget(at, caller, id, settings, isCurrent, true));
}

/** That its limit can hold for what it counts. */
function checkCalls(
  { trx, caller: { workspaceId }, boundedAgents, widenedBudgets, addCheck }: Planning,
  budget: PlannedBudget,
): void {
  widenedBudgets.push(budget);
  const { agentIds } = budget;
  addCheck(() => requireBoundedAgents(trx, workspaceId, { agentIds, planned: boundedAgents }));
}

function agentId({ agents }: Planning, name: string): string {
  const agent = agents.find(name);
  if (agent) return agent.id;
  throw invalidRequest(`There is no agent "${name}".`);
}
