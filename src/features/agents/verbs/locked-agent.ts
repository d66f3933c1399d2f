import type { NewEvent } from '../../../core/event/event.ts';
import { notFound, requireFound } from '../../../core/failure.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { lockLimits } from '../../../engine/fields/limit-rows.ts';
import { type AgentRow, findAgent, lockAgent } from '../statements/agents.ts';

/**
 * Changes an agent under its lock. Admission takes the same limit row, so a change takes effect with the next call and
 * never during one. Limits are locked before the agent. Only agents that the caller sees are locked, and they are read
 * again after the lock. The events that `work` collects are written last.
 * @param later collects the events instead, for a transaction of several changes, which writes all of them last
 */
export async function withLockedAgent<T>(
  db: Db,
  caller: Caller,
  agentId: string,
  work: (trx: Trx, agent: AgentRow, events: NewEvent[]) => Promise<T>,
  later?: NewEvent[],
): Promise<T> {
  return inTransaction(db, async (trx) => {
    if (!(await findAgent(trx, caller, agentId))) throw notFound('agent');
    await lockLimits(trx, [agentId]);
    const agent = requireFound(await lockAgent(trx, caller, agentId), 'agent');
    const events = later ?? [];
    const result = await work(trx, agent, events);
    if (!later) await writeEvents(trx, events);
    return result;
  });
}
