import type { Compute } from '../../../core/compute.ts';
import type { NewEvent } from '../../../core/event/event.ts';
import { CallFailure } from '../../../core/failure.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { inSnapshot } from '../../../db/in-snapshot.ts';
import { requireBoundedAgents } from '../../../engine/budgets/require-bounded.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { lockLimits } from '../../../engine/fields/limit-rows.ts';
import { findAgents } from '../../agents/statements/agents.ts';
import { lockSlugs } from '../../agents/statements/slugs.ts';
import { requireFewMatching } from '../../budgets/verbs/change-budget.ts';
import type { ToolServerDeps } from '../../tools/verbs/change-tool-server.ts';
import { lockDeclaration } from '../statements/declaration-statements.ts';
import { type Declaration, type Plan, planDeclaration } from './plan-declaration.ts';
import { requireAllowedServers } from './plan-tool-server.ts';
import { type Change, StalePlan } from './planning.ts';

/**
 * Applies a declaration in one transaction, all or nothing. The changes are planned first, without locks; a dry run ends
 * there.
 */
export async function applyDeclaration(
  deps: Pick<ToolServerDeps, 'sealKey' | 'checkToolServerURL'> & {
    readonly db: Db;
    readonly compute: Compute;
  },
  caller: Caller,
  declaration: Declaration,
  dryRun: boolean,
): Promise<readonly Change[]> {
  const { db, compute, sealKey } = deps;
  await requireAllowedServers(deps, caller, declaration.toolServers ?? []);
  const plan = (trx: Trx) => planDeclaration({ trx, compute, sealKey }, caller, declaration);
  if (dryRun) return inSnapshot(db, async (trx) => (await plan(trx)).changes);
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(db, async (trx) => {
        await lockDeclaration(trx, caller.workspaceId);
        await lockSlugs(trx, caller.workspaceId);
        const planned = await plan(trx);
        await writeEvents(trx, await executePlan(trx, caller, planned));
        return planned.changes;
      });
    } catch (error) {
      if (!(error instanceof StalePlan)) throw error;
      if (attempt < attemptsMax) continue;
      const message = 'Agents or budgets were changed at the same time. Try again.';
      throw new CallFailure('CONFLICT', message);
    }
  }
}

const attemptsMax = 3;

/**
 * Admission waits for the limit row of an agent. So only agents that change are locked, after the prompts, and all in one
 * statement to keep the lock order. Returns the events, which are written after all other changes.
 */
async function executePlan(trx: Trx, caller: Caller, plan: Plan): Promise<NewEvent[]> {
  const { works, revisions } = plan;
  const events: NewEvent[] = [];
  for (const work of works.toolServer) await work(trx, events);
  for (const work of works.prompt) await work(trx, events);
  const agentIds = [...revisions.keys()];
  if (agentIds.length > 0) {
    await lockLimits(trx, agentIds);
    const agents = await findAgents(trx, caller, agentIds);
    const current = agents.filter(({ id, revision }) => revisions.get(id) === revision);
    if (current.length < agentIds.length) throw new StalePlan();
  }
  for (const work of works.agent) await work(trx, events);
  // Before workflows: they lock the limits of the workspace, which follow those of agents.
  for (const work of works.budget) await work(trx, events);
  await requireLimitsHold(trx, caller.workspaceId, plan);
  for (const work of works.workflow) await work(trx, events);
  return events;
}

/**
 * Checks the stored result: others may have changed options and budgets while the steps waited for locks. Those that widen budgets
 * have locked the limits of the workspace, so that no other budget changes any more.
 */
async function requireLimitsHold(
  trx: Trx,
  workspaceId: string,
  { boundedAgents, widenedBudgets }: Plan,
): Promise<void> {
  if (widenedBudgets.length > 0) await requireFewMatching(trx, workspaceId);
  else if (boundedAgents.size === 0) return;
  const scopes = widenedBudgets.map(({ agentIds }) => agentIds);
  const countsAll = scopes.includes(null);
  const agentIds = countsAll ? null : [...boundedAgents, ...scopes.flatMap((ids) => ids ?? [])];
  await requireBoundedAgents(trx, workspaceId, { agentIds });
}
