import type { Caller } from '../core/admission.ts';
import { isEmail } from '../core/email.ts';
import { CallFailure } from '../core/failure.ts';
import { uuid7 } from '../core/id.ts';
import type { Role } from '../core/member.ts';
import { hashToken, makeToken } from '../core/token.ts';
import { readClock } from '../store/clock.ts';
import type { Db } from '../store/db.ts';
import { type InvitationRow, replaceInvitation } from '../store/invitations.ts';
import { isMember } from '../store/members.ts';
import { lockMembers } from './change-member.ts';

const days = 7;

/** `token` is what the link ends in: stored nowhere, so shown now or never. An earlier link of the address is void. */
export async function invite(
  db: Db,
  caller: Caller,
  input: { readonly email: string; readonly role: Role },
): Promise<{ row: InvitationRow; token: string }> {
  const email = input.email.toLowerCase();
  if (!isEmail(email)) {
    throw new CallFailure('INVALID_REQUEST', 'Field "email" must be an e-mail address.');
  }
  const { workspaceId, userId: invitedBy } = caller;
  return db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      await lockMembers(trx, caller);
      if (await isMember(trx, workspaceId, email)) {
        throw new CallFailure('CONFLICT', 'This address is a member already.');
      }
      const id = uuid7(await readClock(trx));
      const token = makeToken();
      const tokenHash = hashToken(token);
      const invitation = { id, workspaceId, email, role: input.role, tokenHash, invitedBy, days };
      return { row: await replaceInvitation(trx, invitation), token };
    });
}
