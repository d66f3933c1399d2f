import { type Static, Type } from 'typebox';
import { toId } from '../../core/id.ts';
import { commandActor } from '../../core/people/audit.ts';
import * as contract from '../../features/people/contract/usage-contract.ts';
import { createWorkspace as create } from '../../features/people/verbs/create-workspace.ts';
import { renameWorkspace as rename } from '../../features/people/verbs/rename-workspace.ts';
import { setPlan as changePlan } from '../../features/people/verbs/set-plan.ts';
import { emailMax } from '../../http/contract/contract-limits.ts';
import type { Body } from '../../http/contract/operation.ts';
import { text } from '../../http/contract/shared.ts';
import { checkBody } from '../../http/request/validate.ts';
import { type NumberOrNone, noneToNull } from '../arguments.ts';
import { printDone } from '../client/print.ts';
import type { Context } from '../command.ts';
import { firstOwner, hashPassword, openMigrated } from './first-workspace.ts';
import { printSecret } from './print-secret.ts';

/** The options of `cueline workspaces create`. No route creates a workspace: the operator decides who gets one. */
const newWorkspace = Type.Object({
  name: contract.workspaceName,
  owner: text(emailMax, 'E-mail address of its first owner.'),
});

/** `cueline workspaces create`: prints the generated password of a new user once. */
export async function createWorkspace(
  context: Context,
  { json = false, ...options }: { name: string; owner: string; json?: boolean },
): Promise<void> {
  const { name, owner } = checkBody<Static<typeof newWorkspace>>(newWorkspace, options);
  const db = await openMigrated(context);
  const workspace = { name, email: owner, emailVerified: true, password: null };
  const created = await create(db, workspace, hashPassword);
  const { email: ownerEmail, password } = created;
  const workspaceId = toId('workspace', created.workspaceId);
  const once = password === undefined ? '.' : ', whose password is shown once.';
  await printSecret(
    password ?? null,
    `Created workspace ${workspaceId}. Owner: ${ownerEmail}${once}`,
    { record: { workspaceId, ownerEmail, ...(password !== undefined && { password }) }, json },
  );
}

/** `cueline workspaces rename`. */
export async function renameWorkspace(
  context: Context,
  { name, workspace, json = false }: { name: string; workspace?: string; json?: boolean },
): Promise<void> {
  const { body } = contract.updateWorkspace;
  const renamed = checkBody<Body<typeof contract.updateWorkspace>>(body, { name });
  const db = await openMigrated(context);
  const { workspaceId } = await firstOwner(db, workspace);
  await rename(db, commandActor(workspaceId), renamed.name);
  const record = { workspaceId: toId('workspace', workspaceId), ...renamed };
  await printDone(record, `Renamed workspace ${record.workspaceId} to ${renamed.name}.`, json);
}

interface PlanOptions {
  readonly name: string;
  readonly actionsPerMonth: NumberOrNone;
  readonly workspace?: string;
  readonly json?: boolean;
}

/** `cueline plan set`: sets the plan of a workspace. */
export async function setPlan(
  context: Context,
  { name, actionsPerMonth, workspace, json = false }: PlanOptions,
): Promise<void> {
  const plan = checkBody<Body<typeof contract.setPlan>>(contract.setPlan.body, {
    name,
    actionsPerMonth: noneToNull(actionsPerMonth),
  });
  const db = await openMigrated(context);
  const { workspaceId } = await firstOwner(db, workspace);
  await changePlan(db, commandActor(workspaceId), plan);
  const actions = plan.actionsPerMonth ?? 'unlimited';
  await printDone(plan, `Plan ${plan.name}: ${actions} AI Actions per month.`, json);
}
