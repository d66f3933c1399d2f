import type { Visibility } from '../../core/agent/agent.ts';
import { hashBytes } from '../../core/people/key.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { type KeyRow, readKeysWithAllAgents } from './admission-read.ts';

/** The existing ones of these keys by their hashes. */
export function readCallerKeys(send: Send, hashes: readonly string[]): Promise<KeyRow[]> {
  return send(readKeysWithAllAgents, { keyHashes: hashes.map(hashBytes) });
}

/** The fields that decide whether a caller sees an agent. */
export interface AgentView {
  readonly id: string;
  readonly workspaceId: string;
  readonly visibility: Visibility;
  readonly createdBy: string | null;
  readonly allowedOrigins: string[];
}

/** The existing ones of these agents, in any workspace. */
export function readAgentViews(send: Send, agentIds: readonly string[]): Promise<AgentView[]> {
  return send(readViews, agentIds);
}

/** SQL: the columns of `AgentView`. */
const viewColumns = sql`a.id, a.workspace_id, a.visibility, a.created_by, a.allowed_origins`;

const readViews = statement<readonly string[], AgentView>('read-agent-views')`
  select ${viewColumns} from agents a where a.id = any(${(ids) => ids}::uuid[]) and a.deleted_at is null`;

/** A slug or alias in a workspace. */
export interface AgentName {
  readonly workspaceId: string;
  readonly name: string;
}

/** The agents with these slugs and aliases, whether the caller sees them or not. */
export function readNamedAgents(
  send: Send,
  names: readonly AgentName[],
): Promise<(AgentView & AgentName)[]> {
  return send(readNamed, names);
}

export const given = rowSet<AgentName>('given', {
  workspace_id: ['uuid', ({ workspaceId }) => workspaceId],
  name: ['text', ({ name }) => name],
});

// The limit makes the planner look up each name by its key, whatever the statistics say.
const readNamed = statement<readonly AgentName[], AgentView & AgentName>('read-named-agents')`
  select ${viewColumns}, given.name
  from ${given.table}
    cross join lateral (select subject from names n
      where n.workspace_id = given.workspace_id and n.name = given.name limit 1) as n
    join agents a on a.id = n.subject and a.deleted_at is null`;
