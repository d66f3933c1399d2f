import {
  type Action,
  allowedActions,
  deletable,
  type LifecycleState,
  transition,
} from '../../../core/agent/agent.ts';
import type { NewEvent } from '../../../core/event/event.ts';
import { CallFailure } from '../../../core/failure.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type Precondition, refuseStale } from '../../../core/precondition.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { requireBoundedAgents } from '../../../engine/budgets/require-bounded.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { markDeleted, writeLifecycleState } from '../statements/agent-writes.ts';
import { type AgentRow, readAgent } from '../statements/agents.ts';
import { deleted, moved } from './agent-events.ts';
import { withLockedAgent } from './locked-agent.ts';

/** Moves agents through their lifecycle, and deletes them. */

/** @param later see `withLockedAgent` */
export async function moveAgent(
  db: Db,
  caller: Caller,
  agentId: string,
  action: Action,
  later?: NewEvent[],
): Promise<AgentRow> {
  const move = async (trx: Trx, agent: AgentRow, events: NewEvent[]) => {
    const next = transition(agent, action);
    if (!next) throw illegalTransition(agent, `"${action}" is not possible`);
    await writeLifecycleState(trx, agent.id, next);
    if (action === 'restore') {
      await requireBoundedAgents(trx, caller.workspaceId, { agentIds: [agent.id] });
    }
    await auditChange(trx, caller, 'agent.move', agent.id, { action });
    events.push(await moved(trx, caller, agent, action, next));
    return readAgent(trx, agent.id);
  };
  return withLockedAgent(db, caller, agentId, move, later);
}

/** Accepted executions continue to their end. New calls are refused. */
export async function deleteAgent(
  db: Db,
  caller: Caller,
  agentId: string,
  isCurrent: Precondition,
): Promise<void> {
  await withLockedAgent(db, caller, agentId, async (trx, agent, events) => {
    refuseStale(agent.revision, isCurrent);
    if (!deletable(agent)) {
      // In the same stage, an archived agent could be deleted.
      throw illegalTransition(agent, 'It cannot be deleted', `in stage ${agent.stage}`);
    }
    await markDeleted(trx, agent.id);
    await auditChange(trx, caller, 'agent.delete', agent.id);
    events.push(await deleted(trx, caller, agent));
  });
}

/**
 * @param what the refused action, as the start of a sentence
 * @param where the state that prevents it
 */
export function illegalTransition(
  at: LifecycleState,
  what: string,
  where = at.archived ? 'while it is archived' : `in stage ${at.stage}`,
): CallFailure {
  const possible = allowedActions(at);
  const message = `${what} ${where}. Allowed: ${possible.join(', ')}.`;
  return new CallFailure('ILLEGAL_TRANSITION', message, { allowedActions: possible });
}
