import { checkBody } from '../api/validate.ts';
import { printDone } from '../cli/print.ts';
import type { Body } from '../contract/endpoint.ts';
import * as contract from '../contract/usage.ts';
import { itself } from '../core/audit.ts';
import * as flow from '../flow/set-plan.ts';
import { type Bound, orNull } from './arguments.ts';
import type { Context } from './command.ts';
import { firstOwner, openCurrent } from './workspace.ts';

export interface PlanOptions {
  readonly name: string;
  readonly actionsPerMonth: Bound;
  readonly workspace?: string;
  readonly json?: boolean;
}

/** The plan of a workspace, from its next call on. */
export async function setPlan(
  context: Context,
  { name, actionsPerMonth, workspace, json = false }: PlanOptions,
): Promise<void> {
  const plan = checkBody<Body<typeof contract.setPlan>>(contract.setPlan.body, {
    ...{ name, actionsPerMonth: orNull(actionsPerMonth) },
  });
  const db = await openCurrent(context);
  const { workspaceId } = await firstOwner(db, workspace);
  await flow.setPlan(db, itself(workspaceId), plan);
  const actions = plan.actionsPerMonth ?? 'any number of';
  await printDone(plan, `The plan is ${plan.name}: ${actions} AI Actions a month.`, json);
}
