import type { Caller } from '../../core/execution/caller.ts';
import { fromId } from '../../core/id.ts';
import type { HashPassword } from '../../core/people/token.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import { bootstrapWorkspace } from '../../flow/workspace/bootstrap-workspace.ts';
import { findSessionCaller } from '../../store/admission/callers.ts';
import type { Db } from '../../store/connection/database.ts';
import { listMembers } from '../../store/people/members.ts';
import { findFirstWorkspace } from '../../store/people/workspaces.ts';
import type { Context } from '../command.ts';
import { bringUpToDate, openForCommand } from './open-database.ts';

/** What the commands that work on the database share. Whoever can run them has the rights of an owner. */

/** The database, its schema brought up to date, or with `CUELINE_MIGRATE=manual` found to be. */
export async function openCurrent(context: Context): Promise<Db> {
  const database = await openForCommand(context);
  await bringUpToDate(database, context);
  return database.db;
}

/** The first owner of that workspace, or of the first one, as a caller. */
export async function firstOwner(db: Db, workspace: string | undefined): Promise<Caller> {
  const named = workspace === undefined ? null : fromId('workspace', workspace);
  const workspaceId = workspace === undefined ? (await findFirstWorkspace(db))?.workspaceId : named;
  const members = workspaceId ? await listMembers(db, workspaceId) : [];
  const owner = members.find(({ role }) => role === 'owner');
  const caller = owner && (await findSessionCaller(db, owner.userId, workspaceId ?? null));
  if (caller) return caller;
  throw new StartupFailure(
    workspace === undefined
      ? 'There is no workspace yet: "cueline start" and "cueline keys create" make the first.'
      : `There is no workspace ${workspace}.`,
  );
}

/** Where there is no workspace yet, makes the first and its owner; a password that was made up is shown this once. */
export async function createFirstWorkspace(db: Db, { config }: Context): Promise<void> {
  const { created, email, password } = await bootstrapWorkspace(db, {
    ownerEmail: config.owner.email,
    ownerPassword: config.owner.password,
    hashPassword,
  });
  if (!created) return;
  console.error(`Made the first workspace, with ${email} as its owner.`);
  if (password) console.error(`Password: ${password}   (shown this once)`);
}

/** All of signing in comes with it, so it is loaded only where there is a password. */
export const hashPassword: HashPassword = async (password) =>
  (await import('../../api/access/session.ts')).hashPassword(password);
