import type { Caller } from '../../../core/people/caller.ts';
import { sql } from '../../../db/sql.ts';

/** The caller, as far as it decides which agents are visible. */
export type Viewer = Pick<Caller, 'workspaceId' | 'userId' | 'role' | 'allAgents' | 'agentIds'>;

/** SQL: whether a caller sees agent `a` (`sees` in core/people/member.ts), including the restriction of its key. */
export function visibleTo(viewer: Viewer) {
  return sql`a.deleted_at is null and ${visibleIncludingDeleted(viewer)}`;
}

/** SQL: the same, including deleted agents. */
export function visibleIncludingDeleted({
  workspaceId,
  userId,
  role,
  allAgents,
  agentIds,
}: Viewer) {
  return sql`a.workspace_id = ${workspaceId}
    and (a.visibility = 'public' or ${role === 'owner'} or a.created_by = ${userId})
    and (${allAgents} or a.id = any (${agentIds}::uuid[]))`;
}
