import {
  type Action,
  allowedActions,
  deletable,
  type LifecycleState,
  transition,
} from '../../core/agent/agent.ts';
import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import { actorOf } from '../../core/people/audit.ts';
import { markDeleted, writeLifecycleState } from '../../store/agent/agent-writes.ts';
import { type AgentRow, readAgent } from '../../store/agent/agents.ts';
import type { Db } from '../../store/connection/database.ts';
import { writeAudit } from '../../store/people/audit.ts';
import { withLockedAgent } from './locked-agent.ts';

/** Moves an agent through its lifecycle, and out of it. */

export async function moveAgent(
  db: Db,
  caller: Caller,
  agentId: string | null,
  action: Action,
): Promise<AgentRow> {
  return withLockedAgent(db, caller, agentId, async (trx, agent) => {
    const next = transition(agent, action);
    if (!next) throw illegalTransition(agent, `"${action}" is not possible`);
    await writeLifecycleState(trx, agent.id, next);
    const subject = toId('agent', agent.id);
    await writeAudit(trx, actorOf(caller), { action: 'agent.move', subject, details: { action } });
    return readAgent(trx, agent.id);
  });
}

/** Runs that were accepted before go on to their end; nothing new is let in. */
export async function deleteAgent(db: Db, caller: Caller, agentId: string | null): Promise<void> {
  await withLockedAgent(db, caller, agentId, async (trx, agent) => {
    if (!deletable(agent)) {
      // An archived one can be, from the stages that allow it.
      throw illegalTransition(agent, 'It cannot be deleted', `in stage ${agent.stage}`);
    }
    await markDeleted(trx, agent.id);
    const subject = toId('agent', agent.id);
    await writeAudit(trx, actorOf(caller), { action: 'agent.delete', subject });
  });
}

/**
 * @param what the refused thing, as the beginning of a sentence
 * @param where what of its standing is in the way
 */
export function illegalTransition(
  at: LifecycleState,
  what: string,
  where = at.archived ? 'while it is archived' : `in stage ${at.stage}`,
): CallFailure {
  const possible = allowedActions(at);
  const message = `${what} ${where}; possible: ${possible.join(', ')}.`;
  return new CallFailure('ILLEGAL_TRANSITION', message, { allowedActions: possible });
}
