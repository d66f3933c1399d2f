import { uuid7 } from '../../core/id.ts';
import { generatePassword, type HashPassword } from '../../core/people/token.ts';
import { readClock } from '../../store/connection/clock.ts';
import type { Db, Trx } from '../../store/connection/database.ts';
import { addMember } from '../../store/people/members.ts';
import { createUser, findUserByEmail, setPassword } from '../../store/people/users.ts';
import {
  createWorkspace,
  findFirstWorkspace,
  lockFirstWorkspace,
  type WorkspaceOwner,
} from '../../store/people/workspaces.ts';

/** As the configuration names them, or not. */
export interface FirstOwner {
  readonly ownerEmail: string | null;
  readonly ownerPassword: string | null;
  readonly hashPassword: HashPassword;
}

export interface FirstWorkspace extends WorkspaceOwner {
  /** False where there was a workspace already; then nothing has changed, and nothing below is set. */
  readonly created: boolean;
  /** Set where a password was made up: stored nowhere, so shown now or never. */
  readonly password?: string;
}

const workspaceName = 'Default';
const emailDefault = 'owner@cueline.local';

/** Makes the first workspace and its owner where there is none. Of many processes that start at once, one does. */
export async function bootstrapWorkspace(db: Db, first: FirstOwner): Promise<FirstWorkspace> {
  return db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
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

/** An address that the operator names is theirs; an account that it has already keeps its password. */
async function createOwner(trx: Trx, { ownerEmail, ownerPassword, hashPassword }: FirstOwner) {
  const email = (ownerEmail ?? emailDefault).toLowerCase();
  const known = await findUserByEmail(trx, email);
  if (known) return { ownerId: known.id, email };
  const made = ownerPassword === null ? generatePassword() : null;
  const hash = await hashPassword(ownerPassword ?? made ?? '');
  const nowMs = await readClock(trx);
  const ownerId = uuid7(nowMs);
  const name = email.slice(0, email.indexOf('@'));
  await createUser(trx, { id: ownerId, email, name, emailVerified: ownerEmail !== null });
  await setPassword(trx, { id: uuid7(nowMs), userId: ownerId, hash, generated: made !== null });
  return { ownerId, email, ...(made !== null && { password: made }) };
}
