import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { levelMs } from '../../../core/history/statistics.ts';
import { toId, uuid7 } from '../../../core/id.ts';
import { actorOf } from '../../../core/people/audit.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { isEmail } from '../../../core/people/email.ts';
import { mailsPerDayMax } from '../../../core/people/mail.ts';
import { openInvitationsMax, type Role } from '../../../core/people/member.ts';
import { generateToken, hashToken } from '../../../core/people/token.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { writeAudit } from '../statements/audit-statements.ts';
import {
  countOtherInvitations,
  deleteInvitation,
  type NamedInvitation,
  replaceInvitation,
} from '../statements/invitations.ts';
import { takeMails } from '../statements/mails.ts';
import { isMember } from '../statements/members.ts';
import { auditChange } from './audit-change.ts';
import { lockMembers } from './change-member.ts';

const validDays = 7;

/**
 * `token` is the end of the link. It is not stored, so show it now. It replaces an earlier link for the address. With
 * `mails` it takes one of the workspace's mails of the day, which the caller then sends. The lock of all members makes both
 * limits exact.
 */
export async function invite(
  db: Db,
  caller: Caller,
  input: { readonly email: string; readonly role: Role; readonly mails: boolean },
): Promise<{ row: NamedInvitation; token: string }> {
  const email = input.email.toLowerCase();
  if (!isEmail(email)) {
    throw invalidRequest('Field "email" must be an e-mail address.');
  }
  const { workspaceId, userId: invitedBy } = caller;
  const apiKeyId = caller.kind === 'key' ? caller.id : null;
  return inTransaction(db, async (trx) => {
    await lockMembers(trx, caller);
    if (await isMember(trx, workspaceId, email)) {
      throw new CallFailure('CONFLICT', 'This address is already a member.');
    }
    if ((await countOtherInvitations(trx, workspaceId, email)) >= openInvitationsMax) {
      const message = `A workspace has at most ${openInvitationsMax} open invitations. Revoke one first.`;
      throw new CallFailure('CONFLICT', message);
    }
    const nowMs = await readClock(trx);
    if (input.mails && (await takeMails(trx, workspaceId, 1)) === 0) throw tooManyMails(nowMs);
    const id = uuid7(nowMs);
    const token = generateToken();
    const tokenHash = hashToken(token);
    const origin = { id, workspaceId, invitedBy, apiKeyId };
    const invitation = { ...origin, email, role: input.role, tokenHash, days: validDays };
    await writeAudit(trx, actorOf(caller), {
      action: 'invitation.create',
      subject: toId('invitation', id),
      details: { role: input.role },
      personal: { email },
    });
    return { row: await replaceInvitation(trx, invitation), token };
  });
}

function tooManyMails(nowMs: number): CallFailure {
  const message = `This workspace has sent its ${mailsPerDayMax} e-mails of today (UTC). Invite again tomorrow.`;
  const { day } = levelMs;
  return new CallFailure('RATE_LIMIT_EXCEEDED', message, {
    retryAfter: Math.ceil((day - (nowMs % day)) / 1_000),
  });
}

/** Revokes an open invitation; false if there is none. */
export async function revokeInvitation(
  db: Db,
  caller: Caller,
  invitationId: string,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    const deleted = await deleteInvitation(trx, caller.workspaceId, invitationId);
    if (deleted) await auditChange(trx, caller, 'invitation.delete', invitationId);
    return deleted;
  });
}
