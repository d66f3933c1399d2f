import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure } from '../../core/failure.ts';
import { lockLimits } from '../../store/admission/limits.ts';
import { type AgentRow, findAgent, lockAgent } from '../../store/agent/agents.ts';
import { type Db, inTransaction, type Trx } from '../../store/connection/database.ts';

/**
 * Does something to an agent while nobody else changes it and no call to it is admitted: admission takes the same row
 * of limits, so a change takes effect with the next call and never in the midst of one. Limits come before all else;
 * only an agent that the caller sees is locked, and what it is by then is read anew.
 */
export async function withLockedAgent<T>(
  db: Db,
  caller: Caller,
  agentId: string | null,
  work: (trx: Trx, agent: AgentRow) => Promise<T>,
): Promise<T> {
  if (agentId === null) throw noSuchAgent();
  return inTransaction(db, async (trx) => {
    if (!(await findAgent(trx, caller, agentId))) throw noSuchAgent();
    await lockLimits(trx, [agentId]);
    const agent = await lockAgent(trx, caller, agentId);
    if (!agent) throw noSuchAgent();
    return work(trx, agent);
  });
}

export function noSuchAgent(): CallFailure {
  return new CallFailure('NOT_FOUND', 'There is no such agent.');
}
