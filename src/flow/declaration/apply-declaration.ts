import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure } from '../../core/failure.ts';
import { lockLimits } from '../../store/admission/limits.ts';
import { findAgents } from '../../store/agent/agents.ts';
import { lockDeclaration } from '../../store/agent/declaration.ts';
import { type Db, inTransaction, type Trx } from '../../store/connection/database.ts';
import { inSnapshot } from '../../store/history/records.ts';
import { type Change, type Declaration, type Plan, planDeclaration } from './plan-declaration.ts';

/**
 * Makes what is there as it is declared: all of it in one transaction, or nothing. What is to be done is planned first,
 * without a lock; a dry run ends there.
 */
export async function applyDeclaration(
  db: Db,
  caller: Caller,
  declaration: Declaration,
  dryRun: boolean,
): Promise<readonly Change[]> {
  const plan = (trx: Trx) => planDeclaration(trx, caller, declaration);
  if (dryRun) return inSnapshot(db, async (trx) => (await plan(trx)).changes);
  for (let tries = 1; ; tries++) {
    try {
      return await inTransaction(db, async (trx) => {
        await lockDeclaration(trx, caller.workspaceId);
        const planned = await plan(trx);
        await executeAttempt(trx, caller, planned);
        return planned.changes;
      });
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      if (tries < triesMax) continue;
      throw new CallFailure('CONFLICT', 'Agents were changed at the same time. Try again.');
    }
  }
}

const triesMax = 3;

/** Somebody changed what the plan was made for. */
class Overtaken extends Error {}

/**
 * Calls that are being admitted wait for the limits of an agent, so only those of agents that change are locked, and as
 * late as can be: a new prompt needs none. All at once, since they are locked by id.
 */
async function executeAttempt(trx: Trx, caller: Caller, { works, revisions }: Plan): Promise<void> {
  for (const work of works.prompt) await work(trx);
  const agentIds = [...revisions.keys()];
  if (agentIds.length > 0) {
    await lockLimits(trx, agentIds);
    const agents = await findAgents(trx, caller, agentIds);
    const fits = agents.filter(({ id, revision }) => revisions.get(id) === revision);
    if (fits.length < agentIds.length) throw new Overtaken();
  }
  for (const work of works.agent) await work(trx);
  for (const work of works.workflow) await work(trx);
}
