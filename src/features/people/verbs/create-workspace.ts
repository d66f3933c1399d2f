import { CallFailure } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { isEmail } from '../../../core/people/email.ts';
import { generatePassword, type HashPassword } from '../../../core/people/token.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { addMember } from '../statements/members.ts';
import { createUser, findUserByEmail, setPassword } from '../statements/users.ts';
import * as store from '../statements/workspaces.ts';

export interface NewWorkspace {
  readonly name: string;
  /** An existing user keeps the password and becomes an owner here as well. */
  readonly email: string;
  /** Whether a new user's address counts as verified. */
  readonly emailVerified: boolean;
  /** For a new user; generated if null. */
  readonly password: string | null;
}

export interface CreatedWorkspace extends store.WorkspaceOwner {
  /** The generated password, if any. It is not stored in plain text, so show it now. */
  readonly password?: string;
}

/** Creates a workspace with its owner. Throws `INVALID_REQUEST` if `email` cannot sign in. */
export async function createWorkspace(
  db: Db,
  workspace: NewWorkspace,
  hashPassword: HashPassword,
): Promise<CreatedWorkspace> {
  const email = workspace.email.toLowerCase();
  if (!isEmail(email)) {
    throw new CallFailure('INVALID_REQUEST', 'Option "--owner" must be an e-mail address.');
  }
  return inTransaction(db, async (trx) => {
    const owner = await findOrCreateOwner(trx, { ...workspace, email }, hashPassword);
    const workspaceId = uuid7(await readClock(trx));
    await store.createWorkspace(trx, { id: workspaceId, name: workspace.name });
    await addMember(trx, { workspaceId, userId: owner.ownerId, role: 'owner' });
    return { ...owner, workspaceId };
  });
}

async function findOrCreateOwner(trx: Trx, owner: NewWorkspace, hashPassword: HashPassword) {
  const { email, emailVerified } = owner;
  const known = await findUserByEmail(trx, email);
  if (known) return { ownerId: known.id, email };
  const generated = owner.password === null ? generatePassword() : null;
  const hash = await hashPassword(owner.password ?? generated ?? '');
  const nowMs = await readClock(trx);
  const ownerId = uuid7(nowMs);
  const name = email.slice(0, email.indexOf('@'));
  await createUser(trx, { id: ownerId, email, name, emailVerified });
  await setPassword(trx, {
    id: uuid7(nowMs),
    userId: ownerId,
    hash,
    generated: generated !== null,
  });
  return { ownerId, email, ...(generated !== null && { password: generated }) };
}
