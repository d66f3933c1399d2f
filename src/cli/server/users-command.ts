import { toId } from '../../core/id.ts';
import { listUsers as readUsers } from '../../features/people/statements/users.ts';
import { resetPassword as reset } from '../../features/people/verbs/reset-password.ts';
import { readSecretLine } from '../client/input.ts';
import { printList } from '../client/print.ts';
import type { Context } from '../command.ts';
import { hashPassword, openMigrated } from './first-workspace.ts';
import { printSecret } from './print-secret.ts';

/** `cueline users list`: all users of all workspaces. */
export async function listUsers(
  context: Context,
  { json = false }: { json?: boolean },
): Promise<void> {
  const users = (await readUsers(await openMigrated(context))).map((user) => ({
    userId: toId('user', user.id),
    email: user.email,
    name: user.name,
    createdAt: user.createdAt.toISOString(),
    workspaces: user.workspaces.map(({ workspaceId, name, role }) => ({
      workspaceId: toId('workspace', workspaceId),
      name,
      role,
    })),
  }));
  const rows = users.map(({ workspaces, ...user }) => ({
    ...user,
    workspaces: workspaces.map(({ workspaceId, role }) => `${workspaceId} (${role})`),
  }));
  if (json) return printList(users, [], true);
  await printList(rows, ['userId', 'email', 'name', 'workspaces'], false);
}

/** Sets a given or generated password and signs the user out everywhere. */
export async function resetPassword(
  context: Context,
  email: string,
  { passwordStdin, json = false }: { passwordStdin?: true; json?: boolean },
): Promise<void> {
  const newPassword = passwordStdin ? await readSecretLine(context.lifetime.stopping) : undefined;
  const db = await openMigrated(context);
  const { password } = await reset(db, email, hashPassword, newPassword);
  const once = password === null ? '' : ' The new password is shown once.';
  await printSecret(password, `${email} is signed out everywhere.${once}`, {
    record: { email, password },
    json,
  });
}
