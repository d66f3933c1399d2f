import { toId } from '../../core/id.ts';
import { resetPassword as reset } from '../../flow/workspace/reset-password.ts';
import { listUsers as readUsers } from '../../store/people/users.ts';
import { readSecretLine } from '../client/input.ts';
import { printDone, printList } from '../client/print.ts';
import type { Context } from '../command.ts';
import { hashPassword, openCurrent } from './first-workspace.ts';

/** Everybody who has an account, of all workspaces. */
export async function listUsers(
  context: Context,
  { json = false }: { json?: boolean },
): Promise<void> {
  const users = (await readUsers(await openCurrent(context))).map((user) => ({
    userId: toId('user', user.id),
    ...{ email: user.email, name: user.name, createdAt: user.createdAt.toISOString() },
    workspaces: user.workspaces.map(({ workspaceId, name, role }) => ({
      ...{ workspaceId: toId('workspace', workspaceId), name, role },
    })),
  }));
  const rows = users.map(({ workspaces, ...user }) => ({
    ...user,
    workspaces: workspaces.map(({ workspaceId, role }) => `${workspaceId} (${role})`),
  }));
  if (json) return printList(users, [], true);
  await printList(rows, ['userId', 'email', 'name', 'workspaces'], false);
}

/** A new password, given or made up; signs the user out everywhere. */
export async function resetPassword(
  context: Context,
  email: string,
  { passwordStdin, json = false }: { passwordStdin?: true; json?: boolean },
): Promise<void> {
  const given = passwordStdin ? await readSecretLine(context.life.ending) : undefined;
  const db = await openCurrent(context);
  const { password } = await reset(db, email, hashPassword, given);
  const shown = password === null ? '' : `New password: ${password}   (shown this once)\n`;
  await printDone({ email, password }, `${shown}${email} is signed out everywhere.`, json);
}
