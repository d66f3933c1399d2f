import type { MemberRole } from '../../core/people/member.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { statement } from '../../db/statement.ts';

/** Users, each in one workspace. */
export type MembershipLookup = readonly Omit<MemberRole, 'role'>[];

/** The roles of those users that are still members. Valid under the locks of their workspaces. */
export function readRoles(send: Send, lookups: MembershipLookup): Promise<MemberRole[]> {
  return send(readRolesOf, lookups);
}

const lookups = rowSet<MembershipLookup[number]>('lookups', {
  workspace_id: ['uuid', (one) => one.workspaceId],
  user_id: ['uuid', (one) => one.userId],
});

const readRolesOf = statement<MembershipLookup, MemberRole>('read-roles')`
  select m.workspace_id, m.user_id, m.role
  from ${lookups.table}
  cross join lateral (
    select * from members m
    where m.workspace_id = lookups.workspace_id and m.user_id = lookups.user_id offset 0) as m`;
