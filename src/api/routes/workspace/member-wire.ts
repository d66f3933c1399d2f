import type { Dismissal, Member } from '../../../contract/workspace/members.ts';
import { toId } from '../../../core/id.ts';
import type { DismissalRow } from '../../../store/people/dismissals.ts';
import type { MemberRow, Membership } from '../../../store/people/members.ts';

/** Members and memberships in API format. */

export function memberWire(row: MemberRow): Member {
  const userId = toId('user', row.userId);
  return { ...row, userId, joinedAt: row.joinedAt.toISOString() };
}

export function membershipWire({ workspaceId, name, role }: Membership) {
  return { workspaceId: toId('workspace', workspaceId), name, role };
}

export function dismissalWire({ notice, until }: DismissalRow): Dismissal {
  return { notice, until: until?.toISOString() ?? null };
}
