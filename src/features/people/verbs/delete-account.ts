import type { NewEvent } from '../../../core/event/event.ts';
import { CallFailure } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { deletePersonalOf, writeAudit } from '../statements/audit-statements.ts';
import { deleteAcceptedInvitations } from '../statements/invitations.ts';
import { lockMemberships, type Membership } from '../statements/members.ts';
import { deleteAttemptsOf } from '../statements/sign-in-attempts.ts';
import { deleteUser, findUser, type UserRow } from '../statements/users.ts';
import { endMembership, hasAnotherOwner } from './change-member.ts';
import { keysRevoked } from './key-events.ts';

/**
 * Deletes the account of a user: their memberships as if they left every workspace, then the user with password,
 * sessions and linked accounts, and what else names their address. Records and audit entries keep the id of the user.
 */
export async function deleteAccount(db: Db, userId: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const events: NewEvent[] = [];
    const memberships = await lockMemberships(trx, userId);
    const user = await findUser(trx, userId);
    if (!user) throw new CallFailure('UNAUTHORIZED', 'The account no longer exists.');
    await refuseLastOwner(trx, user, memberships);
    for (const { workspaceId, role } of memberships) {
      const revoked = await endMembership(trx, workspaceId, user.id);
      const line = { subject: toId('user', user.id), details: { role, accountDeleted: true } };
      const actor = { workspaceId, userId: user.id, apiKeyId: null };
      await writeAudit(trx, actor, { action: 'member.remove', ...line });
      events.push(...(await keysRevoked(trx, workspaceId, revoked)));
    }
    await deletePersonalOf(trx, user);
    await deleteAcceptedInvitations(trx, user.email);
    await deleteAttemptsOf(trx, user);
    await deleteUser(trx, user.id);
    // Last, for all workspaces at once.
    await writeEvents(trx, events);
  });
}

async function refuseLastOwner(
  trx: Trx,
  user: UserRow,
  memberships: readonly Membership[],
): Promise<void> {
  for (const { workspaceId, name, role } of memberships) {
    if (await hasAnotherOwner(trx, { workspaceId, userId: user.id, role })) continue;
    throw new CallFailure(
      'CONFLICT',
      `You are the last owner of the workspace "${name}". Make another member an owner first.`,
    );
  }
}
