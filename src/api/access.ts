import type { Caller } from '../core/admission.ts';
import { CallFailure } from '../core/failure.ts';
import { fromId } from '../core/id.ts';
import { sees } from '../core/member.ts';
import { type AgentView, findAgentView } from '../store/callers.ts';
import type { Db } from '../store/db.ts';

/** The agent of that wire id as far as the caller may see it. Whatever it may not see does not exist: 404. */
export async function visibleAgent(db: Db, caller: Caller, wireId: string): Promise<AgentView> {
  const agentId = fromId('agent', wireId);
  const agent = agentId === null ? null : await findAgentView(db, caller.workspaceId, agentId);
  if (
    !agent ||
    caller.role === null ||
    !sees({ userId: caller.userId, role: caller.role }, agent)
  ) {
    throw noSuchAgent();
  }
  if (!caller.allAgents && !caller.agentIds.includes(agent.id)) throw noSuchAgent();
  return agent;
}

/** Without `read`, a key reaches what it started itself. */
export function mayRead(
  caller: Caller,
  { apiKeyId }: { readonly apiKeyId: string | null },
): boolean {
  return caller.rights.includes('read') || apiKeyId === caller.id;
}

function noSuchAgent(): CallFailure {
  return new CallFailure('NOT_FOUND', 'There is no such agent.');
}
