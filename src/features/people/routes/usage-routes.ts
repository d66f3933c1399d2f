import type { FastifyInstance } from 'fastify';
import { monthOf, monthStartMs } from '../../../core/agent/limits.ts';
import { actorOf } from '../../../core/people/audit.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { requireWholeWorkspace } from '../access/require-permission.ts';
import { getUsage, setPlan, updateWorkspace } from '../contract/usage-contract.ts';
import { readUsage, type UsageRow } from '../statements/usage-statements.ts';
import { renameWorkspace } from '../verbs/rename-workspace.ts';
import * as flow from '../verbs/set-plan.ts';

/** The name and the plan of a workspace, and its usage. */
export function usageRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, getUsage, async ({ caller }) => {
    return { result: usageOf(await readUsage(db, caller.workspaceId)) };
  });

  route(app, deps, setPlan, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    await flow.setPlan(db, actorOf(caller), body);
    return { result: body };
  });

  route(app, deps, updateWorkspace, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    await renameWorkspace(db, actorOf(caller), body.name);
    return { result: { workspaceId: caller.workspaceId, name: body.name } };
  });
}

/** Usage of the current month, as admission counts it. The month never goes back, even if the clock does. */
function usageOf(row: UsageRow) {
  const month = Math.max(row.month, monthOf(row.nowMs));
  const actionsUsed = row.month === month ? row.monthUsed : 0;
  const { planName, actionsPerMonth } = row;
  return {
    month: new Date(monthStartMs(month)).toISOString().slice(0, 7),
    plan: planName,
    actionsUsed,
    actionsPerMonth,
    actionsRemaining: actionsPerMonth === null ? null : Math.max(0, actionsPerMonth - actionsUsed),
    resetAt: monthStartMs(month + 1),
  };
}
