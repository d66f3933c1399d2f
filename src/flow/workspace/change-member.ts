import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import { actorOf } from '../../core/people/audit.ts';
import { hasRight, type Role } from '../../core/people/member.ts';
import { lockLimits } from '../../store/admission/limits.ts';
import type { Db, Trx } from '../../store/connection/database.ts';
import { writeAudit } from '../../store/people/audit.ts';
import { deleteInvitationsBy } from '../../store/people/invitations.ts';
import { lockRole } from '../../store/people/keys.ts';
import {
  deleteMember,
  findMember,
  hasOtherOwner,
  lockMembership,
  type MemberRow,
  setRole,
} from '../../store/people/members.ts';

/**
 * A change of a membership holds the locks of admission: once it has returned, no call is let in by what the member
 * was before. The workspace's lock keeps two owners from demoting each other at once, which would leave none.
 */

export async function changeRole(
  db: Db,
  caller: Caller,
  userId: string,
  role: Role,
): Promise<MemberRow> {
  return changing(db, caller, { userId, asOwner: true }, async (trx, member) => {
    if (!hasRight(role, 'own')) await endOwnership(trx, caller.workspaceId, member);
    await setRole(trx, caller.workspaceId, userId, role);
    const line = { subject: toId('user', userId), details: { from: member.role, to: role } };
    await writeAudit(trx, actorOf(caller), { action: 'member.change', ...line });
    return { ...member, role };
  });
}

/**
 * Revokes the keys that the member has issued. What runs already runs on. Whoever was put into a workspace, be it by
 * somebody who had their account before them, needs nobody's leave to be rid of it.
 */
export async function removeMember(db: Db, caller: Caller, userId: string): Promise<void> {
  const asOwner = caller.kind !== 'session' || caller.userId !== userId;
  await changing(db, caller, { userId, asOwner }, async (trx, member) => {
    await endOwnership(trx, caller.workspaceId, member);
    await deleteMember(trx, caller.workspaceId, userId);
    const line = { subject: toId('user', userId), details: { role: member.role } };
    await writeAudit(trx, actorOf(caller), { action: 'member.remove', ...line });
  });
}

/** Whoever may invite no more must not come back by a link of their own. */
async function endOwnership(trx: Trx, workspaceId: string, member: MemberRow): Promise<void> {
  if (member.role === 'owner' && !(await hasOtherOwner(trx, workspaceId, member.userId))) {
    throw new CallFailure(
      'CONFLICT',
      'A workspace keeps at least one owner: make another member one first.',
    );
  }
  await deleteInvitationsBy(trx, workspaceId, member.userId);
}

function changing<T>(
  db: Db,
  caller: Caller,
  { userId, asOwner }: { readonly userId: string; readonly asOwner: boolean },
  work: (trx: Trx, member: MemberRow) => Promise<T>,
): Promise<T> {
  const { workspaceId } = caller;
  // What is read after a lock must be read with a later snapshot, whatever the database's default is.
  return db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      await lockMembership(trx, workspaceId, userId);
      if (asOwner) await refuseUnlessOwner(trx, caller);
      const member = await findMember(trx, workspaceId, userId);
      if (!member) throw new CallFailure('NOT_FOUND', 'There is no such member.');
      return work(trx, member);
    });
}

/** Locks the members of the workspace, for a change that is about no one of them. */
export async function lockMembers(trx: Trx, caller: Caller): Promise<void> {
  await lockLimits(trx, [caller.workspaceId]);
  await refuseUnlessOwner(trx, caller);
}

/** The caller was an owner when it was authenticated; another owner may have been quicker. */
async function refuseUnlessOwner(trx: Trx, { workspaceId, userId }: Caller): Promise<void> {
  const role = userId === null ? null : await lockRole(trx, workspaceId, userId);
  if (role !== null && hasRight(role, 'own')) return;
  throw new CallFailure('PERMISSION_DENIED', 'Only an owner of the workspace may do this.');
}
