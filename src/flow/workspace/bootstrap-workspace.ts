import { uuid7 } from '../../core/id.ts';
import { generatePassword, type HashPassword } from '../../core/people/token.ts';
import { readClock } from '../../store/connection/clock.ts';
import { type Db, inTransaction, type Trx } from '../../store/connection/database.ts';
import { addMember } from '../../store/people/members.ts';
import { createUser, findUserByEmail, setPassword } from '../../store/people/users.ts';
import {
  createWorkspace,
  findFirstWorkspace,
  lockFirstWorkspace,
  type WorkspaceOwner,
} from '../../store/people/workspaces.ts';

/** From the configuration; null if unset. */
export interface FirstOwner {
  readonly ownerEmail: string | null;
  readonly ownerPassword: string | null;
  readonly hashPassword: HashPassword;
}

export interface FirstWorkspace extends WorkspaceOwner {
  /** False if a workspace existed. Then nothing has changed. */
  readonly created: boolean;
  /** The generated password, if any. It is not stored in plain text, so show it now. */
  readonly password?: string;
}

const workspaceName = 'Default';
const emailDefault = 'owner@cueline.local';

/** Creates the first workspace and its owner if there is none. A lock admits one of several starting processes. */
export async function bootstrapWorkspace(db: Db, first: FirstOwner): Promise<FirstWorkspace> {
  return inTransaction(db, async (trx) => {
    await lockFirstWorkspace(trx);
    const found = await findFirstWorkspace(trx);
    if (found) return { ...found, created: false };
    const owner = await createOwner(trx, first);
    const workspaceId = uuid7(await readClock(trx));
    await createWorkspace(trx, { id: workspaceId, name: workspaceName });
    await addMember(trx, { workspaceId, userId: owner.ownerId, role: 'owner' });
    return { ...owner, workspaceId, created: true };
  });
}

/** An address from the configuration counts as verified. An existing account keeps its password. */
async function createOwner(trx: Trx, { ownerEmail, ownerPassword, hashPassword }: FirstOwner) {
  const email = (ownerEmail ?? emailDefault).toLowerCase();
  const known = await findUserByEmail(trx, email);
  if (known) return { ownerId: known.id, email };
  const generated = ownerPassword === null ? generatePassword() : null;
  const hash = await hashPassword(ownerPassword ?? generated ?? '');
  const nowMs = await readClock(trx);
  const ownerId = uuid7(nowMs);
  const name = email.slice(0, email.indexOf('@'));
  await createUser(trx, { id: ownerId, email, name, emailVerified: ownerEmail !== null });
  await setPassword(trx, {
    id: uuid7(nowMs),
    userId: ownerId,
    hash,
    generated: generated !== null,
  });
  return { ownerId, email, ...(generated !== null && { password: generated }) };
}
