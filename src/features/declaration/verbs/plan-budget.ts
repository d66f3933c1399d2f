import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import {
  changeBudget,
  createBudget,
  requireSameWindows,
} from '../../budgets/verbs/change-budget.ts';
import { budgetChanges, budgetSettingsOf, type DeclaredBudget } from '../rules/declared-budget.ts';
import type { Planning } from './planning.ts';

/** Plans a budget. */
export function planBudget(planning: Planning, declared: DeclaredBudget): void {
  const { caller, agents, budgets, changes, add } = planning;
  if (!caller.rights.includes('own')) {
    const message = 'Budgets in a declaration need the permission "own".';
    throw new CallFailure('PERMISSION_DENIED', message);
  }
  const { name } = declared;
  const settings = budgetSettingsOf(declared, (agent) => agentId(planning, agent));
  const known = budgets.find(name);
  if (!known) {
    changes.push({ kind: 'budget', name, action: 'create' });
    add((trx) => createBudget(trx, caller, settings));
    return;
  }
  requireSameWindows(known, settings);
  const nameOf = (id: string) => agents.ofIds([id])[0]?.name ?? toId('agent', id);
  const fields = budgetChanges(known, settings, nameOf);
  if (fields.length === 0) return;
  changes.push(
    ...fields.map((one) => ({ kind: 'budget', name, action: 'change', ...one }) as const),
  );
  add((trx) => changeBudget(trx, caller, known.id, settings, () => true));
}

function agentId({ agents }: Planning, name: string): string {
  const agent = agents.find(name);
  if (agent) return agent.id;
  throw invalidRequest(`There is no agent "${name}".`);
}
