import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure } from '../../core/failure.ts';
import { fromId } from '../../core/id.ts';
import { sees } from '../../core/people/member.ts';
import type { SharedReads } from '../../flow/execution/shared-reads.ts';
import type { AgentView } from '../../store/admission/callers.ts';
import type { ExecutionDetailRow } from '../../store/execution/executions.ts';

/** The agent of that wire id as far as the caller may see it. Whatever it may not see does not exist: 404. */
export async function visibleAgent(
  reads: SharedReads,
  caller: Caller,
  wireId: string,
): Promise<AgentView> {
  const agentId = fromId('agent', wireId);
  return visible(caller, agentId === null ? null : await reads.agent(agentId));
}

/** Where an execution stands, on the wire. */
export interface ExecutionPath {
  readonly agentId: string;
  readonly executionId: string;
}

/** An execution of an agent that the caller may see. `onAgent` is told of the agent even where it has no such execution. */
export async function visibleExecution(
  reads: SharedReads,
  caller: Caller,
  path: ExecutionPath,
  onAgent: (agent: AgentView) => void,
): Promise<ExecutionDetailRow> {
  const agentId = fromId('agent', path.agentId);
  const executionId = fromId('execution', path.executionId);
  if (agentId === null || executionId === null) {
    onAgent(await visibleAgent(reads, caller, path.agentId));
    throw noSuchExecution();
  }
  const { agent, execution } = await reads.execution({ agentId, executionId });
  onAgent(visible(caller, agent));
  if (!execution) throw noSuchExecution();
  return execution;
}

function visible(caller: Caller, agent: AgentView | null): AgentView {
  if (agent?.workspaceId !== caller.workspaceId) throw noSuchAgent();
  const { userId, role } = caller;
  if (role === null || !sees({ userId, role }, agent)) throw noSuchAgent();
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
