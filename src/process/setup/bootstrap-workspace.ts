import type { HashPassword } from '../../core/people/token.ts';
import { type Db, inTransaction } from '../../db/database.ts';
import {
  findFirstWorkspace,
  lockFirstWorkspace,
  type WorkspaceOwner,
} from '../../features/people/statements/workspaces.ts';
import { createWorkspace } from '../../features/people/verbs/create-workspace.ts';

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

const name = 'Default';
const emailDefault = 'owner@cueline.local';

/** Creates the first workspace and its owner if there is none. A lock admits one of several starting processes. */
export async function bootstrapWorkspace(db: Db, first: FirstOwner): Promise<FirstWorkspace> {
  const { ownerEmail, ownerPassword: password, hashPassword } = first;
  return inTransaction(db, async (trx) => {
    await lockFirstWorkspace(trx);
    const found = await findFirstWorkspace(trx);
    if (found) return { ...found, created: false };
    // An address from the configuration counts as verified.
    const owner = { email: ownerEmail ?? emailDefault, emailVerified: ownerEmail !== null };
    const workspace = await createWorkspace(trx, { name, ...owner, password }, hashPassword);
    return { ...workspace, created: true };
  });
}
