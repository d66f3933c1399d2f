import type { FastifyInstance } from 'fastify';
import type { Body } from '../../../contract/endpoint.ts';
import * as contract from '../../../contract/events/alerts.ts';
import type { AlertSettings } from '../../../core/event/alert.ts';
import { notFound } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import * as flow from '../../../flow/event/change-alert.ts';
import * as store from '../../../store/event/alerts.ts';
import { requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { limitLists } from '../../http/limits/minute-limit.ts';
import { route } from '../../http/route.ts';

/** Alerts about the calls of a workspace. */
export function alertRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db, historyReads } = deps;

  route(app, deps, contract.createAlert, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const row = await flow.createAlert(db, caller, settingsOf(body));
    const created = alertWire(row);
    const headers = { location: `/api/v1/alerts/${created.alertId}` };
    return { status: 201, body: created, headers };
  });

  route(app, deps, contract.listAlerts, async ({ caller }) => {
    const rows = await store.listAlerts(db, caller.workspaceId);
    return { status: 200, body: { alerts: rows.map(alertWire) } };
  });

  route(
    app,
    deps,
    contract.previewNewAlert,
    async ({ body: { days, name = 'Preview', ...rest }, caller }) => {
      requireWholeWorkspace(caller);
      const settings = settingsOf({ ...rest, name });
      const preview = await historyReads.read(caller, (readDb) =>
        flow.previewNewAlert(readDb, caller, settings, days),
      );
      return { status: 200, body: previewWire(preview) };
    },
    limitLists,
  );

  route(app, deps, contract.getAlert, async ({ params, caller }) => {
    const row = await store.findAlert(db, caller.workspaceId, alertIdOf(params));
    if (!row) throw notFound('alert');
    return { status: 200, body: alertWire(row) };
  });

  route(app, deps, contract.updateAlert, async ({ params, body, caller }) => {
    requireWholeWorkspace(caller);
    const { agentIds, ...rest } = body;
    const change = { ...rest, ...(agentIds !== undefined && { agentIds: parseIds(agentIds) }) };
    const row = await flow.changeAlert(db, caller, alertIdOf(params), change);
    return { status: 200, body: alertWire(row) };
  });

  route(app, deps, contract.deleteAlert, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    await flow.deleteAlert(db, caller, alertIdOf(params));
    return { status: 204, body: null };
  });

  route(
    app,
    deps,
    contract.previewAlert,
    async ({ params, body: { days }, caller }) => {
      requireWholeWorkspace(caller);
      const { workspaceId } = caller;
      const row = await store.findAlert(db, workspaceId, alertIdOf(params));
      if (!row) throw notFound('alert');
      const preview = await historyReads.read(caller, (readDb) =>
        flow.previewFirings(readDb, workspaceId, row, days),
      );
      return { status: 200, body: previewWire(preview) };
    },
    limitLists,
  );
}

function settingsOf(body: Body<typeof contract.createAlert>): AlertSettings {
  const { agentIds = null, tag = null, ...rest } = body;
  return { ...rest, agentIds: parseIds(agentIds), tag };
}

function parseIds(wireIds: readonly string[] | null): string[] | null {
  return (
    wireIds?.map((wireId) => {
      const id = fromId('agent', wireId);
      if (id === null) throw notFound('agent');
      return id;
    }) ?? null
  );
}

function alertIdOf({ alertId }: { readonly alertId: string }): string {
  const id = fromId('alert', alertId);
  if (id === null) throw notFound('alert');
  return id;
}

function alertWire(row: store.AlertRow): contract.Alert {
  const { name, metric, tag, threshold, clearThreshold, windowMinutes, minCount, noData } = row;
  return {
    alertId: toId('alert', row.id),
    ...{ name, metric, agentIds: row.agentIds?.map((id) => toId('agent', id)) ?? null, tag },
    ...{ threshold, clearThreshold, windowMinutes, minCount, noData },
    state: row.state,
    stateSince: row.stateSince.toISOString(),
    value: row.value,
    evaluatedAt: row.evaluatedTo?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy && toId('user', row.createdBy),
    updatedAt: row.updatedAt.toISOString(),
  };
}

function previewWire({ firings, values }: flow.Preview): contract.AlertPreview {
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    firings: firings.map(({ firedAtMs, clearedAtMs }) => ({
      firedAt: iso(firedAtMs),
      clearedAt: clearedAtMs === null ? null : iso(clearedAtMs),
    })),
    values: values.map(({ atMs, value }) => ({ at: iso(atMs), value })),
  };
}
