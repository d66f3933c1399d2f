import type { Caller } from '../core/admission.ts';
import { CallFailure } from '../core/failure.ts';
import { fromId } from '../core/id.ts';
import { sees } from '../core/member.ts';
import type { Reads } from '../flow/reads.ts';
import type { AgentView } from '../store/callers.ts';
import type { ExecutionDetailRow } from '../store/executions.ts';

/** The agent of that wire id as far as the caller may see it. Whatever it may not see does not exist: 404. */
export async function visibleAgent(
  reads: Reads,
  caller: Caller,
  wireId: string,
): Promise<AgentView> {
  const agentId = fromId('agent', wireId);
  const agent = agentId === null ? null : await reads.agent(caller.workspaceId, agentId);
  return visible(caller, agent);
}

/** An execution of an agent that the caller may see, with that agent; what else stands in a path is a 404. */
export async function visibleExecution(
  reads: Reads,
  caller: Caller,
  path: { readonly agentId: string; readonly executionId: string },
): Promise<{ agent: AgentView; execution: ExecutionDetailRow }> {
  const agentId = fromId('agent', path.agentId);
  const executionId = fromId('execution', path.executionId);
  const asked = agentId && executionId && { agentId, executionId };
  const { agent, execution } = asked
    ? await reads.execution(caller.workspaceId, asked)
    : { agent: await visibleAgent(reads, caller, path.agentId), execution: null };
  const seen = visible(caller, agent);
  if (!execution) throw noSuchExecution();
  return { agent: seen, execution };
}

function visible(caller: Caller, agent: AgentView | null): AgentView {
  const { userId, role } = caller;
  if (!agent || role === null || !sees({ userId, role }, agent)) throw noSuchAgent();
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

export function noSuchExecution(): CallFailure {
  return new CallFailure('NOT_FOUND', 'There is no such execution.');
}

function noSuchAgent(): CallFailure {
  return new CallFailure('NOT_FOUND', 'There is no such agent.');
}
