import { CallFailure, requireFound } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import { actorOf } from '../../../core/people/audit.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { hasRight, type MemberRole, type Role } from '../../../core/people/member.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { lockLimits } from '../../../engine/fields/limit-rows.ts';
import { writeAudit } from '../statements/audit-statements.ts';
import { passEndpoints, passSessionEndpoints } from '../statements/endpoint-owners.ts';
import { deleteInvitationsBy } from '../statements/invitations.ts';
import { lockRole } from '../statements/keys.ts';
import {
  deleteMember,
  findMember,
  hasOtherOwner,
  lockMembership,
  type MemberRow,
  revokeIssuedByKeys,
  setRole,
} from '../statements/members.ts';
import { keysRevoked } from './key-events.ts';

/**
 * Changes of memberships take the locks of admission: after one returns, no call is admitted with the old role. The lock
 * of the workspace also prevents two owners from demoting each other, which would leave none.
 */

export async function changeRole(
  db: Db,
  caller: Caller,
  userId: string,
  role: Role,
): Promise<MemberRow> {
  return withLockedMember(db, caller, { userId, requiresOwner: true }, async (trx, member) => {
    if (!hasRight(role, 'own')) {
      await requireAnotherOwner(trx, caller.workspaceId, member);
      // A former owner must not return as one by an own link.
      await deleteInvitationsBy(trx, caller.workspaceId, userId);
      await passSessionEndpoints(trx, caller.workspaceId, userId);
    }
    await setRole(trx, caller.workspaceId, userId, role);
    const revoked = hasRight(role, 'manage')
      ? []
      : await revokeIssuedByKeys(trx, caller.workspaceId, userId);
    const line = { subject: toId('user', userId), details: { from: member.role, to: role } };
    await writeAudit(trx, actorOf(caller), { action: 'member.change', ...line });
    await writeEvents(trx, await keysRevoked(trx, caller.workspaceId, revoked));
    return { ...member, role };
  });
}

/**
 * Also revokes the keys that the member has issued. Running executions continue. Members may always leave on their own,
 * because anybody can be added to a workspace.
 */
export async function removeMember(db: Db, caller: Caller, userId: string): Promise<void> {
  const requiresOwner = caller.kind !== 'session' || caller.userId !== userId;
  await withLockedMember(db, caller, { userId, requiresOwner }, async (trx, member) => {
    await requireAnotherOwner(trx, caller.workspaceId, member);
    const revoked = await endMembership(trx, caller.workspaceId, userId);
    const line = { subject: toId('user', userId), details: { role: member.role } };
    await writeAudit(trx, actorOf(caller), { action: 'member.remove', ...line });
    await writeEvents(trx, await keysRevoked(trx, caller.workspaceId, revoked));
  });
}

async function requireAnotherOwner(
  trx: Trx,
  workspaceId: string,
  { userId, role }: MemberRow,
): Promise<void> {
  if (await hasAnotherOwner(trx, { workspaceId, userId, role })) return;
  throw new CallFailure(
    'CONFLICT',
    'A workspace needs at least one owner. Make another member an owner first.',
  );
}

/** Whether the workspace keeps an owner without this member. Valid under its lock. */
export async function hasAnotherOwner(trx: Trx, member: MemberRole): Promise<boolean> {
  if (!hasRight(member.role, 'own')) return true;
  return hasOtherOwner(trx, member.workspaceId, member.userId);
}

/**
 * Deletes also their invitations: a former owner must not return by an own link. Their endpoints belong to the workspace from
 * now on. Returns their keys, which are revoked.
 */
export async function endMembership(
  trx: Trx,
  workspaceId: string,
  userId: string,
): Promise<string[]> {
  await deleteInvitationsBy(trx, workspaceId, userId);
  await passEndpoints(trx, workspaceId, userId);
  return deleteMember(trx, workspaceId, userId);
}

function withLockedMember<T>(
  db: Db,
  caller: Caller,
  { userId, requiresOwner }: { readonly userId: string; readonly requiresOwner: boolean },
  work: (trx: Trx, member: MemberRow) => Promise<T>,
): Promise<T> {
  const { workspaceId } = caller;
  return inTransaction(db, async (trx) => {
    await lockMembership(trx, workspaceId, userId);
    if (requiresOwner) await refuseUnlessOwner(trx, caller);
    const member = requireFound(await findMember(trx, workspaceId, userId), 'member');
    return work(trx, member);
  });
}

/** Locks all members of the workspace, for a change that concerns no single one. */
export async function lockMembers(trx: Trx, caller: Caller): Promise<void> {
  await lockLimits(trx, [caller.workspaceId]);
  await refuseUnlessOwner(trx, caller);
}

/** Another owner may have demoted the caller since its authentication. */
async function refuseUnlessOwner(trx: Trx, { workspaceId, userId }: Caller): Promise<void> {
  const role = userId === null ? null : await lockRole(trx, workspaceId, userId);
  if (role !== null && hasRight(role, 'own')) return;
  throw new CallFailure('PERMISSION_DENIED', 'Only an owner of the workspace may do this.');
}
