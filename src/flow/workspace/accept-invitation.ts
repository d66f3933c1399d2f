import { CallFailure } from '../../core/failure.ts';
import { toId, uuid7 } from '../../core/id.ts';
import type { HashPassword } from '../../core/people/token.ts';
import { lockLimits } from '../../store/admission/limits.ts';
import { readClock } from '../../store/connection/clock.ts';
import type { Db, Trx } from '../../store/connection/database.ts';
import { writeAudit } from '../../store/people/audit.ts';
import { findInvitation, markInvitationAccepted } from '../../store/people/invitations.ts';
import { addMember, type Membership } from '../../store/people/members.ts';
import {
  createUser,
  findUserByEmail,
  setPassword,
  type UserRow,
} from '../../store/people/users.ts';

export interface Acceptance {
  readonly tokenHash: Buffer;
  readonly name: string | undefined;
  readonly password: string | undefined;
  /** Who is signed in where the link was opened. */
  readonly signedInAs: string | null;
}

/** The account, and what it is a member of now. */
export interface Accepted extends Membership {
  readonly userId: string;
  readonly email: string;
}

/** What a link would make, told to whoever has it. */
export interface OpenedInvitation extends Membership {
  readonly email: string;
  readonly expiresAt: Date;
}

/**
 * Null where the link is unknown, used, withdrawn or expired. It is found by its hash, so the time that takes says
 * nothing of a token that is nearly right. Whether the address has an account is not told: whoever made the link has it
 * too, and would learn that of any address.
 */
export async function openInvitation(db: Db, tokenHash: Buffer): Promise<OpenedInvitation | null> {
  const invitation = await findInvitation(db, tokenHash);
  if (!invitation) return null;
  const { email, workspaceId, workspaceName: name, role, expiresAt } = invitation;
  return { email, workspaceId, name, role, expiresAt };
}

/**
 * Makes the invited address a member, and an account for it where it has none. A link alone must not open the account
 * of somebody else: where the address has one, only that user, signed in, can accept. Null as above.
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
  const isTheirs = account !== null && account.id === acceptance.signedInAs;
  // Hashing is slow on purpose: no row is locked meanwhile.
  const person = isTheirs ? account : await newAccount(acceptance, account, hashPassword);
  return db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      // So that nobody is invited while they become a member: that link would outlive a removal.
      await lockLimits(trx, [invitation.workspaceId]);
      if (!(await markInvitationAccepted(trx, tokenHash))) return null;
      const userId =
        'id' in person ? person.id : await createAccount(trx, invitation.email, person);
      if (!(await addMember(trx, { ...invitation, userId }))) {
        throw new CallFailure('CONFLICT', 'You are a member of this workspace already.');
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

/** What is missing is said first: to learn that there is an account takes a try that would make one. */
async function newAccount(
  { name, password }: Acceptance,
  account: UserRow | null,
  hashPassword: HashPassword,
): Promise<NewAccount> {
  if (name === undefined || password === undefined) {
    throw new CallFailure(
      'INVALID_REQUEST',
      'Fields "name" and "password" are needed to make an account; whoever has one signs in with it first.',
    );
  }
  if (account) throw taken();
  return { name, hash: await hashPassword(password) };
}

/** The address is not verified by this: whoever has the link may be anyone it was handed to. */
async function createAccount(trx: Trx, email: string, { name, hash }: NewAccount): Promise<string> {
  const nowMs = await readClock(trx);
  const userId = uuid7(nowMs);
  if (!(await createUser(trx, { id: userId, email, name, emailVerified: false }))) throw taken();
  await setPassword(trx, { id: uuid7(nowMs), userId, hash });
  return userId;
}

export function gone(): CallFailure {
  return new CallFailure('NOT_FOUND', 'The invitation is unknown, used, withdrawn or expired.');
}

function taken(): CallFailure {
  return new CallFailure(
    'CONFLICT',
    'The address of this invitation has an account: sign in with it and accept again.',
  );
}
