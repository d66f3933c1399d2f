import type { FastifyInstance } from 'fastify';
import { requireFound } from '../../../core/failure.ts';
import { storedId, storedIds, toId } from '../../../core/id.ts';
import type { Body } from '../../../http/contract/operation.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { limitLists } from '../../people/access/count-calls.ts';
import { requireWholeWorkspace } from '../../people/access/require-permission.ts';
import * as contract from '../contract/alerts-contract.ts';
import { type AlertSettings, withDefaults } from '../rules/alert.ts';
import * as store from '../statements/alerts.ts';
import * as flow from '../verbs/change-alert.ts';

/** Alerts about the calls of a workspace. */
export function alertRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db, historyReads } = deps;

  route(app, deps, contract.createAlert, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const row = await flow.createAlert(db, caller, settingsOf(body));
    return {
      result: alertOf(row),
      headers: { location: `/api/v1/alerts/${toId('alert', row.id)}` },
    };
  });

  route(app, deps, contract.listAlerts, async ({ caller }) => {
    const rows = await store.listAlerts(db, caller.workspaceId);
    return { result: { alerts: rows.map(alertOf) } };
  });

  route(
    app,
    deps,
    contract.previewNewAlert,
    async ({ body: { days, ...alert }, caller }) => {
      requireWholeWorkspace(caller);
      const settings = settingsOf(alert);
      const preview = await historyReads.read(caller, (readDb) =>
        flow.previewNewAlert(readDb, caller, settings, days),
      );
      return { result: previewOf(preview) };
    },
    limitLists,
  );

  route(app, deps, contract.getAlert, async ({ ids, caller }) => {
    const row = await store.findAlert(db, caller.workspaceId, ids.alertId);
    return { result: alertOf(requireFound(row, 'alert')) };
  });

  route(app, deps, contract.updateAlert, async ({ ids, body, caller }) => {
    requireWholeWorkspace(caller);
    const { agentIds, budgetId, ...rest } = body;
    const change = {
      ...rest,
      ...(agentIds !== undefined && { agentIds: storedIds('agent', agentIds) }),
      ...(budgetId !== undefined && { budgetId: storedBudget(budgetId) }),
    };
    return { result: alertOf(await flow.changeAlert(db, caller, ids.alertId, change)) };
  });

  route(app, deps, contract.deleteAlert, async ({ ids, caller }) => {
    requireWholeWorkspace(caller);
    await flow.deleteAlert(db, caller, ids.alertId);
    return { result: null };
  });

  route(
    app,
    deps,
    contract.previewAlert,
    async ({ ids, body: { days }, caller }) => {
      requireWholeWorkspace(caller);
      const { workspaceId } = caller;
      const row = requireFound(await store.findAlert(db, workspaceId, ids.alertId), 'alert');
      const preview = await historyReads.read(caller, (readDb) =>
        flow.previewFirings(readDb, workspaceId, row, days),
      );
      return { result: previewOf(preview) };
    },
    limitLists,
  );
}

function settingsOf(body: Body<typeof contract.createAlert>): AlertSettings {
  const { agentIds, budgetId = null } = body;
  const subjects = { agentIds: storedIds('agent', agentIds), budgetId: storedBudget(budgetId) };
  return withDefaults({ ...body, ...subjects });
}

function storedBudget(budgetId: string | null): string | null {
  return budgetId === null ? null : storedId('budget', budgetId);
}

function alertOf(row: store.AlertRow) {
  return { ...row, evaluatedAt: row.evaluatedTo };
}

function previewOf({ firings, values }: flow.Preview) {
  return {
    firings: firings.map(({ firedAtMs, clearedAtMs }) => ({
      firedAt: firedAtMs,
      clearedAt: clearedAtMs,
    })),
    values: values.map(({ atMs, value }) => ({ at: atMs, value })),
  };
}
