import { checkBody } from '../../api/http/validate.ts';
import type { Body } from '../../contract/endpoint.ts';
import * as contract from '../../contract/workspace/usage.ts';
import { serviceActor } from '../../core/people/audit.ts';
import * as flow from '../../flow/workspace/set-plan.ts';
import { type Bound, orNull } from '../arguments.ts';
import { printDone } from '../client/print.ts';
import type { Context } from '../command.ts';
import { firstOwner, openCurrent } from './first-workspace.ts';

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
  await flow.setPlan(db, serviceActor(workspaceId), plan);
  const actions = plan.actionsPerMonth ?? 'any number of';
  await printDone(plan, `The plan is ${plan.name}: ${actions} AI Actions a month.`, json);
}
