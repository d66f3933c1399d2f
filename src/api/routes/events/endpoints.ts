import type { FastifyInstance } from 'fastify';
import type { Body } from '../../../contract/endpoint.ts';
import * as contract from '../../../contract/events/endpoints.ts';
import { listEvents } from '../../../contract/events/events.ts';
import { pageDefault } from '../../../contract/limits.ts';
import { formatFor } from '../../../core/event/endpoint.ts';
import { CallFailure, notFound } from '../../../core/failure.ts';
import { fromId, type IdKind, toId } from '../../../core/id.ts';
import * as flow from '../../../flow/event/change-endpoint.ts';
import * as deliveries from '../../../store/event/deliveries.ts';
import * as store from '../../../store/event/endpoints.ts';
import * as events from '../../../store/event/events.ts';
import { requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { readCursor } from '../../http/request/page.ts';
import { readRange } from '../../http/request/range.ts';
import { route } from '../../http/route.ts';
import { deliveryWire, endpointWire, eventWire } from './endpoint-wire.ts';

/** Endpoints that receive events. */
export function endpointRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.createEndpoint, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const { url, eventTypes, payload = 'thin', description = null } = body;
    const { format = formatFor(url) } = body;
    const agentIds = parseAgentIds(body.agentIds ?? null);
    const settings = { url, eventTypes, agentIds, payload, format, description };
    const { row, secret } = await flow.createEndpoint(deps, caller, settings);
    const created = endpointWire(row);
    const headers = { location: `/api/v1/endpoints/${created.endpointId}` };
    return { status: 201, body: { ...created, secret }, headers };
  });

  route(app, deps, contract.listEndpoints, async ({ caller }) => {
    const rows = await store.listEndpoints(db, caller.workspaceId);
    return { status: 200, body: { endpoints: rows.map(endpointWire) } };
  });

  route(app, deps, contract.getEndpoint, async ({ params, caller }) => {
    const row = await store.findEndpoint(db, caller.workspaceId, endpointIdOf(params));
    if (!row) throw notFound('endpoint');
    return { status: 200, body: endpointWire(row) };
  });

  route(app, deps, contract.updateEndpoint, async ({ params, body, caller }) => {
    requireWholeWorkspace(caller);
    const row = await flow.changeEndpoint(deps, caller, endpointIdOf(params), patchOf(body));
    return { status: 200, body: endpointWire(row) };
  });

  route(app, deps, contract.deleteEndpoint, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    await flow.deleteEndpoint(db, caller, endpointIdOf(params));
    return { status: 204, body: null };
  });

  route(app, deps, contract.rotateEndpoint, async ({ params, body, caller }) => {
    requireWholeWorkspace(caller);
    const { graceSeconds = 0 } = body;
    const secret = await flow.rotateEndpoint(deps, caller, endpointIdOf(params), graceSeconds);
    return { status: 200, body: { secret } };
  });

  route(app, deps, contract.testEndpoint, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    const id = endpointIdOf(params);
    await flow.testEndpoint(db, caller, id);
    return { status: 202, body: { endpointId: toId('endpoint', id) } };
  });
}

/** What was sent to endpoints, and the events themselves. */
export function eventRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.listDeliveries, async ({ params, query, caller }) => {
    const { state = null, type = null, limit = pageDefault } = query;
    const before = readCursor('event', query);
    const range = readRange(query);
    const row = await store.findEndpoint(db, caller.workspaceId, endpointIdOf(params));
    if (!row) throw notFound('endpoint');
    const filter = { state, type, ...range, before, limit: limit + 1 };
    const found = await deliveries.listDeliveries(db, row.id, filter);
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    const next = found.length > limit && last && { nextCursor: toId('event', last.id) };
    return {
      status: 200,
      body: { deliveries: rows.map((one) => deliveryWire(one, caller)), ...next },
    };
  });

  route(app, deps, contract.resendDelivery, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    const eventId = idOf('event', params.eventId);
    await flow.resendDelivery(db, caller, endpointIdOf(params), eventId);
    return { status: 202, body: { eventId: toId('event', eventId) } };
  });

  route(app, deps, contract.replayDeliveries, async ({ params, body, caller }) => {
    requireWholeWorkspace(caller);
    const { state = null, ...dates } = body;
    const filter = { state, type: null, ...readRange(dates, undefined, 'Field') };
    const replayed = await flow.replayDeliveries(db, caller, endpointIdOf(params), filter);
    return { status: 202, body: { replayed } };
  });

  route(app, deps, listEvents, async ({ query, caller }) => {
    const { workspaceId } = caller;
    const after = query.after === undefined ? null : idOf('event', query.after);
    const endpointId = query.endpointId === undefined ? null : idOf('endpoint', query.endpointId);
    if (endpointId !== null && !(await store.markRead(db, workspaceId, endpointId))) {
      throw notFound('endpoint');
    }
    const page = { after, limit: query.limit ?? pageDefault, endpointId };
    const rows = await events.listEvents(db, workspaceId, page);
    if (!rows) {
      const message = 'There is no such event. Events are kept for 30 days.';
      throw new CallFailure('NOT_FOUND', message);
    }
    return { status: 200, body: { events: rows.map(eventWire) } };
  });
}

function patchOf(body: Body<typeof contract.updateEndpoint>): flow.EndpointPatch {
  const { agentIds, ...rest } = body;
  return { ...rest, ...(agentIds !== undefined && { agentIds: parseAgentIds(agentIds) }) };
}

function parseAgentIds(wireIds: readonly string[] | null): string[] | null {
  return wireIds?.map((wireId) => idOf('agent', wireId)) ?? null;
}

function endpointIdOf({ endpointId }: { readonly endpointId: string }): string {
  return idOf('endpoint', endpointId);
}

function idOf(kind: Extract<IdKind, 'agent' | 'endpoint' | 'event'>, wireId: string): string {
  const id = fromId(kind, wireId);
  if (id === null) throw notFound(kind);
  return id;
}
