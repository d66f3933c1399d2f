import { notFound } from '../../core/failure.ts';
import type { Caller } from '../../core/people/caller.ts';
import { type Db, inTransaction, type Trx } from '../../db/database.ts';
import { lockLimits } from '../../store/admission/limits.ts';
import { type AgentRow, findAgent, lockAgent } from '../../store/agent/agents.ts';

/**
 * Changes an agent under its lock. Admission takes the same limit row, so a change takes effect with the next call and
 * never during one. Limits are locked before the agent. Only agents that the caller sees are locked, and they are read
 * again after the lock.
 */
export async function withLockedAgent<T>(
  db: Db,
  caller: Caller,
  agentId: string | null,
  work: (trx: Trx, agent: AgentRow) => Promise<T>,
): Promise<T> {
  if (agentId === null) throw notFound('agent');
  return inTransaction(db, async (trx) => {
    if (!(await findAgent(trx, caller, agentId))) throw notFound('agent');
    await lockLimits(trx, [agentId]);
    const agent = await lockAgent(trx, caller, agentId);
    if (!agent) throw notFound('agent');
    return work(trx, agent);
  });
}
