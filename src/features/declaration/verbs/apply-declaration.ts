import type { Compute } from '../../../core/compute.ts';
import type { NewEvent } from '../../../core/event/event.ts';
import { CallFailure } from '../../../core/failure.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { inSnapshot } from '../../../db/in-snapshot.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { lockLimits } from '../../../engine/fields/limit-rows.ts';
import { findAgents } from '../../agents/statements/agents.ts';
import { lockSlugs } from '../../agents/statements/slugs.ts';
import { requireFewMatching } from '../../budgets/verbs/change-budget.ts';
import type { ToolServerDeps } from '../../tools/verbs/change-tool-server.ts';
import { lockDeclaration } from '../statements/declaration-statements.ts';
import { type Declaration, type Plan, planDeclaration } from './plan-declaration.ts';
import { requireAllowedServers } from './plan-tool-server.ts';
import type { Change } from './planning.ts';

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
      throw new CallFailure('CONFLICT', 'Agents were changed at the same time. Try again.');
    }
  }
}

const attemptsMax = 3;

/** An agent has changed since the plan was made. */
class StalePlan extends Error {}

/**
 * Admission waits for the limit row of an agent. So only agents that change are locked, after the prompts, and all in one
 * statement to keep the lock order. Returns the events, which are written after all other changes.
 */
async function executePlan(
  trx: Trx,
  caller: Caller,
  { works, revisions }: Plan,
): Promise<NewEvent[]> {
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
  // Again, under the lock that these have taken: nobody changes budgets any more.
  if (works.budget.length > 0) await requireFewMatching(trx, caller.workspaceId);
  for (const work of works.workflow) await work(trx, events);
  return events;
}
