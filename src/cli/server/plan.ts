import { commandActor } from '../../core/people/audit.ts';
import * as contract from '../../features/people/contract/usage-contract.ts';
import * as flow from '../../features/people/verbs/set-plan.ts';
import type { Body } from '../../http/contract/operation.ts';
import { checkBody } from '../../http/request/validate.ts';
import { type NumberOrNone, noneToNull } from '../arguments.ts';
import { printDone } from '../client/print.ts';
import type { Context } from '../command.ts';
import { firstOwner, openMigrated } from './first-workspace.ts';

export interface PlanOptions {
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
  await flow.setPlan(db, commandActor(workspaceId), plan);
  const actions = plan.actionsPerMonth ?? 'unlimited';
  await printDone(plan, `Plan ${plan.name}: ${actions} AI Actions per month.`, json);
}
