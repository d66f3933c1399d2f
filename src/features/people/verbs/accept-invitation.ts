import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { toId, uuid7 } from '../../../core/id.ts';
import type { HashPassword } from '../../../core/people/token.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { lockLimits } from '../../../engine/fields/limit-rows.ts';
import { writeAudit } from '../statements/audit-statements.ts';
import { findInvitation, markInvitationAccepted } from '../statements/invitations.ts';
import { addMember, type Membership } from '../statements/members.ts';
import { createUser, findUserByEmail, setPassword, type UserRow } from '../statements/users.ts';

export interface Acceptance {
  readonly tokenHash: Buffer;
  readonly name: string | undefined;
  readonly password: string | undefined;
  /** The stored id of the signed-in user, if any. */
  readonly signedInAs: string | null;
}

/** The account and its new membership. */
export interface Accepted extends Membership {
  readonly userId: string;
  readonly email: string;
}

/** What a link offers to anyone who has it. */
export interface OpenedInvitation extends Membership {
  readonly email: string;
  readonly expiresAt: Date;
}

/**
 * Null if the link is unknown, used, revoked or expired. The lookup by hash leaks no timing about similar tokens. The
 * result does not tell whether the address has an account: the creator of the link could otherwise probe any address.
 */
export async function openInvitation(db: Db, tokenHash: Buffer): Promise<OpenedInvitation | null> {
  const invitation = await findInvitation(db, tokenHash);
  if (!invitation) return null;
  const { email, workspaceId, workspaceName: name, role, expiresAt } = invitation;
  return { email, workspaceId, name, role, expiresAt };
}

/**
 * Adds the invited address to the workspace, and creates an account if it has none. A link alone must not open an existing
 * account: then only that user, signed in, can accept. Null as in `openInvitation`.
 */
export async function acceptInvitation(
  db: Db,
  acceptance: Acceptance,
  hashPassword: HashPassword,
): Promise<Accepted | null> {
  const { tokenHash } = acceptance;
  const invitation = await findInvitation(db, tokenHash);
  if (!invitation) return null;
  const account = await findUserByEmail(db, invitation.email);
  const isOwnAccount = account !== null && account.id === acceptance.signedInAs;
  // Before the transaction: hashing is slow on purpose and must not hold locks.
  const person = isOwnAccount ? account : await newAccount(acceptance, account, hashPassword);
  return inTransaction(db, async (trx) => {
    // Nobody can be invited while they become a member: that link would outlive their removal.
    await lockLimits(trx, [invitation.workspaceId]);
    if (!(await markInvitationAccepted(trx, tokenHash))) return null;
    const userId = 'id' in person ? person.id : await createAccount(trx, invitation.email, person);
    if (!(await addMember(trx, { ...invitation, userId }))) {
      throw new CallFailure('CONFLICT', 'You are already a member of this workspace.');
    }
    const { workspaceId, workspaceName: name, role, email } = invitation;
    const actor = { workspaceId, userId, apiKeyId: null };
    const line = { subject: toId('user', userId), details: { role } };
    await writeAudit(trx, actor, { action: 'member.join', ...line });
    return { userId, email, workspaceId, name, role };
  });
}

interface NewAccount {
  readonly name: string;
  readonly hash: string;
}

/** Missing fields are reported first, so that probing for an account takes a request that would create one. */
async function newAccount(
  { name, password }: Acceptance,
  account: UserRow | null,
  hashPassword: HashPassword,
): Promise<NewAccount> {
  if (name === undefined || password === undefined) {
    throw invalidRequest(
      'Fields "name" and "password" are required to create an account. If you have an account, sign in first.',
    );
  }
  if (account) throw accountExists();
  return { name, hash: await hashPassword(password) };
}

/** The link does not verify the address: it may have been passed on. */
async function createAccount(trx: Trx, email: string, { name, hash }: NewAccount): Promise<string> {
  const nowMs = await readClock(trx);
  const userId = uuid7(nowMs);
  if (!(await createUser(trx, { id: userId, email, name, emailVerified: false })))
    throw accountExists();
  await setPassword(trx, { id: uuid7(nowMs), userId, hash });
  return userId;
}

export function invitationNotFound(): CallFailure {
  return new CallFailure('NOT_FOUND', 'The invitation is unknown, used, revoked or expired.');
}

function accountExists(): CallFailure {
  return new CallFailure(
    'CONFLICT',
    'The invited address has an account. Sign in with it and accept again.',
  );
}
