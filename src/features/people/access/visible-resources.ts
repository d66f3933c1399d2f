import type { Execution } from '../../../core/execution/execution-fields.ts';
import { notFound, withoutAmounts, withoutErrorDetails } from '../../../core/failure.ts';
import { fromId } from '../../../core/id.ts';
import { type Caller, seesCosts } from '../../../core/people/caller.ts';
import { sees } from '../../../core/people/member.ts';
import { isName } from '../../../core/slug.ts';
import type { AgentView } from '../../../engine/admit/caller-reads.ts';
import type { FoundExecution, SharedReads } from '../../../engine/read/shared-reads.ts';

/**
 * The stored id of an agent from its identifier, slug or alias; null if there is none. Every slug and alias in a path or field
 * becomes an identifier here. What the caller does not see has no name: only an identifier tells that an agent exists.
 */
export async function findAgentId(
  reads: Pick<SharedReads, 'agentNamed'>,
  caller: Caller,
  name: string,
): Promise<string | null> {
  const agentId = fromId('agent', name);
  if (agentId !== null || !isName(name)) return agentId;
  const { workspaceId } = caller;
  const agent = await reads.agentNamed({ workspaceId, name });
  return isVisible(caller, agent) ? agent.id : null;
}

/** The agent with this wire id. An agent that the caller cannot see returns 404, as if it did not exist. */
export async function visibleAgent(
  reads: SharedReads,
  caller: Caller,
  wireId: string,
): Promise<AgentView> {
  const agentId = fromId('agent', wireId);
  return visible(caller, agentId === null ? null : await reads.agent(agentId));
}

/** Throws unless the caller can see all of these agents. */
export async function requireVisibleAgents(
  reads: SharedReads,
  caller: Caller,
  agentIds: ReadonlySet<string>,
): Promise<void> {
  const agents = await Promise.all([...agentIds].map((agentId) => reads.agent(agentId)));
  for (const agent of agents) visible(caller, agent);
}

/** Path parameters of an execution. */
export interface ExecutionPath {
  readonly agentId: string;
  readonly executionId: string;
}

/** An execution of a visible agent. Calls `onAgent` even if the agent has no such execution. */
export async function visibleExecution(
  reads: SharedReads,
  caller: Caller,
  path: ExecutionPath,
  onAgent: (agent: AgentView) => void,
): Promise<Execution> {
  const agentId = fromId('agent', path.agentId);
  const executionId = fromId('execution', path.executionId);
  if (agentId === null || executionId === null) {
    onAgent(await visibleAgent(reads, caller, path.agentId));
    throw notFound('execution');
  }
  const { agent, execution } = await reads.execution({ agentId, executionId });
  onAgent(visible(caller, agent));
  if (!execution) throw notFound('execution');
  return execution;
}

function visible(caller: Caller, agent: AgentView | null): AgentView {
  if (!isVisible(caller, agent)) throw notFound('agent');
  return agent;
}

function isVisible(caller: Caller, agent: AgentView | null): agent is AgentView {
  if (agent?.workspaceId !== caller.workspaceId) return false;
  const { userId, role, allAgents, agentIds } = caller;
  if (role === null || !sees({ userId, role }, agent)) return false;
  return allAgents || agentIds.includes(agent.id);
}

/** The execution that was found; null if the caller may not read it. */
export function readableExecution(
  caller: Caller,
  { agent, execution }: FoundExecution,
): Execution | null {
  return execution && isVisible(caller, agent) && mayRead(caller, execution) ? execution : null;
}

/** An error as the caller may see it: without `read`, no part that may quote the prompt or name an internal address. */
export function visibleError(
  caller: Pick<Caller, 'rights' | 'allowedOrigins'>,
  error: string | null,
): string | null {
  if (error === null || caller.rights.includes('read')) return error;
  const brief = withoutErrorDetails(error);
  return seesCosts(caller) ? brief : withoutAmounts(brief);
}

/** Whether the caller may read the execution. A key without `read` may read only what it started. */
export function mayRead(
  caller: Caller,
  { apiKeyId }: { readonly apiKeyId: string | null },
): boolean {
  return caller.rights.includes('read') || apiKeyId === caller.id;
}
