import type { Execution } from '../../core/execution/execution-fields.ts';
import { CallFailure } from '../../core/failure.ts';
import { fromId, toId } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import type { AgentView } from '../../engine/admit/caller-reads.ts';
import type { ApiDeps } from '../../features/api-deps.ts';
import { mayRead, visibleExecution } from '../../features/people/access/visible-resources.ts';
import { findAgentOfExecution } from '../mcp/tools.ts';

export interface ResponseAccess {
  readonly onAgent?: (agent: AgentView) => void;
  /** Allows the access of a caller that may not read it; by default, none does. */
  readonly mayAccess?: (caller: Caller, row: Execution) => boolean;
}

/** The execution with that identifier, if the caller may read it; null otherwise. */
export async function findResponse(
  { db, reads }: Pick<ApiDeps, 'db' | 'reads'>,
  caller: Caller,
  responseId: string,
  { onAgent = () => {}, mayAccess = () => false }: ResponseAccess = {},
): Promise<Execution | null> {
  const executionId = fromId('execution', responseId);
  const agentId = executionId && (await findAgentOfExecution(db, executionId));
  if (agentId === null) return null;
  try {
    const path = { agentId: toId('agent', agentId), executionId: responseId };
    const row = await visibleExecution(reads, caller, path, onAgent);
    return mayRead(caller, row) || mayAccess(caller, row) ? row : null;
  } catch (error) {
    if (error instanceof CallFailure && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}
