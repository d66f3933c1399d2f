import type { Static } from 'typebox';
import { toId } from '../../core/id.ts';
import { newWorkspace } from '../../features/people/contract/new-workspace.ts';
import * as flow from '../../features/people/verbs/create-workspace.ts';
import { checkBody } from '../../http/request/validate.ts';
import type { Context } from '../command.ts';
import { hashPassword, openMigrated } from './first-workspace.ts';
import { printSecret } from './print-secret.ts';

/** `cueline workspaces create`: prints the generated password of a new user once. */
export async function createWorkspace(
  context: Context,
  { json = false, ...options }: { name: string; owner: string; json?: boolean },
): Promise<void> {
  const { name, owner } = checkBody<Static<typeof newWorkspace>>(newWorkspace, options);
  const db = await openMigrated(context);
  const workspace = { name, email: owner, emailVerified: true, password: null };
  const created = await flow.createWorkspace(db, workspace, hashPassword);
  const { email: ownerEmail, password } = created;
  const workspaceId = toId('workspace', created.workspaceId);
  const once = password === undefined ? '.' : ', whose password is shown once.';
  await printSecret(
    password ?? null,
    `Created workspace ${workspaceId}. Owner: ${ownerEmail}${once}`,
    { record: { workspaceId, ownerEmail, ...(password !== undefined && { password }) }, json },
  );
}
