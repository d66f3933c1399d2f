import { fromId } from '../../core/id.ts';
import { type Caller, commandCaller } from '../../core/people/caller.ts';
import type { HashPassword } from '../../core/people/token.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import type { Db } from '../../db/database.ts';
import { findSessionCaller } from '../../features/people/statements/callers.ts';
import { listMembers } from '../../features/people/statements/members.ts';
import { findFirstWorkspace } from '../../features/people/statements/workspaces.ts';
import { bootstrapWorkspace } from '../../process/setup/bootstrap-workspace.ts';
import type { Context } from '../command.ts';
import { ensureSchema, openForCommand } from './open-database.ts';

/** Shared by the commands that open the database. They act with the rights of an owner. */

/** Opens the database and migrates its schema or, with `CUELINE_MIGRATE=manual`, checks it. */
export async function openMigrated(context: Context): Promise<Db> {
  const database = await openForCommand(context);
  await ensureSchema(database, context);
  return database.db;
}

/** Returns the first owner of the given or the first workspace as a caller. */
export async function firstOwner(db: Db, workspace: string | undefined): Promise<Caller> {
  const named = workspace === undefined ? null : fromId('workspace', workspace);
  const workspaceId = workspace === undefined ? (await findFirstWorkspace(db))?.workspaceId : named;
  const members = workspaceId ? await listMembers(db, workspaceId) : [];
  const owner = members.find(({ role }) => role === 'owner');
  const caller = owner && (await findSessionCaller(db, owner.userId, workspaceId ?? null));
  if (caller) return commandCaller(caller);
  throw new StartupFailure(
    workspace === undefined
      ? 'No workspace yet. "cueline start" and "cueline keys create" create the first one.'
      : `Unknown workspace ${workspace}.`,
  );
}

/** Creates the first workspace and its owner if there is none. Prints a generated password once. */
export async function createFirstWorkspace(db: Db, { config }: Context): Promise<void> {
  const { created, email, password } = await bootstrapWorkspace(db, {
    ownerEmail: config.owner.email,
    ownerPassword: config.owner.password,
    hashPassword,
  });
  if (!created) return;
  console.error(`Created the first workspace. Owner: ${email}`);
  if (password) console.error(`Password: ${password}   (shown once)`);
}

/** Loads the session code only if there is a password to hash. */
export const hashPassword: HashPassword = async (password) =>
  (await import('../../features/people/access/session.ts')).hashPassword(password);
