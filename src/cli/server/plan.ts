import { checkBody } from '../../api/http/request/validate.ts';
import type { Body } from '../../contract/endpoint.ts';
import * as contract from '../../contract/workspace/usage.ts';
import { commandActor } from '../../core/people/audit.ts';
import * as flow from '../../flow/workspace/set-plan.ts';
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
    ...{ name, actionsPerMonth: noneToNull(actionsPerMonth) },
  });
  const db = await openMigrated(context);
  const { workspaceId } = await firstOwner(db, workspace);
  await flow.setPlan(db, commandActor(workspaceId), plan);
  const actions = plan.actionsPerMonth ?? 'unlimited';
  await printDone(plan, `Plan ${plan.name}: ${actions} AI Actions per month.`, json);
}
