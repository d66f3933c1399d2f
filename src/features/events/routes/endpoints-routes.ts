import type { FastifyInstance } from 'fastify';
import { formatFor, shownURL } from '../../../core/event/endpoint.ts';
import { alertEventTypes, type StoredEvent, thinData } from '../../../core/event/event.ts';
import { CallFailure, notFound, requireFound } from '../../../core/failure.ts';
import { fromId, storedId, storedIds, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import * as events from '../../../engine/complete/events.ts';
import { pageDefault } from '../../../http/contract/contract-limits.ts';
import { allowAgentOrigins } from '../../../http/cors.ts';
import { readCursor } from '../../../http/request/page-query.ts';
import { readRange } from '../../../http/request/range.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { requireWholeWorkspace } from '../../people/access/require-permission.ts';
import { visibleExecution } from '../../people/access/visible-resources.ts';
import * as contract from '../contract/endpoints-contract.ts';
import { listEvents, listExecutionEvents } from '../contract/events-contract.ts';
import * as deliveries from '../statements/deliveries.ts';
import * as store from '../statements/endpoints.ts';
import * as flow from '../verbs/change-endpoint.ts';

/** Endpoints that receive events. */
export function endpointRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.createEndpoint, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const settings = {
      ...{ eventTypes: alertEventTypes, payload: 'thin' as const, description: null },
      ...{ format: formatFor(body.url), ...body, agentIds: storedIds('agent', body.agentIds) },
    };
    const { row, secret } = await flow.createEndpoint(deps, caller, settings);
    const headers = { location: `/api/v1/endpoints/${toId('endpoint', row.id)}` };
    return { result: { ...shownEndpoint(row), secret }, headers };
  });

  route(app, deps, contract.listEndpoints, async ({ caller }) => {
    const rows = await store.listEndpoints(db, caller.workspaceId);
    return { result: { endpoints: rows.map(shownEndpoint) } };
  });

  route(app, deps, contract.getEndpoint, async ({ ids, caller }) => {
    const row = await store.findEndpoint(db, caller.workspaceId, ids.endpointId);
    return { result: shownEndpoint(requireFound(row, 'endpoint')) };
  });

  route(app, deps, contract.updateEndpoint, async ({ ids, body, caller }) => {
    requireWholeWorkspace(caller);
    const { agentIds, ...rest } = body;
    const agents = agentIds !== undefined && { agentIds: storedIds('agent', agentIds) };
    const patch = { ...rest, ...agents };
    return {
      result: shownEndpoint(await flow.changeEndpoint(deps, caller, ids.endpointId, patch)),
    };
  });

  route(app, deps, contract.deleteEndpoint, async ({ ids, caller }) => {
    requireWholeWorkspace(caller);
    await flow.deleteEndpoint(db, caller, ids.endpointId);
    return { result: null };
  });

  route(app, deps, contract.rotateEndpoint, async ({ ids, body: { graceSeconds = 0 }, caller }) => {
    requireWholeWorkspace(caller);
    const secret = await flow.rotateEndpoint(deps, caller, ids.endpointId, graceSeconds);
    return { result: { secret } };
  });

  route(app, deps, contract.testEndpoint, async ({ ids, caller }) => {
    requireWholeWorkspace(caller);
    await flow.testEndpoint(db, caller, ids.endpointId);
    return { result: ids };
  });
}

/** What was sent to endpoints, and the events themselves. */
export function eventRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.listDeliveries, async ({ ids, query, caller }) => {
    const { state = null, type = null, limit = pageDefault } = query;
    const before = readCursor('event', query);
    const range = readRange(query);
    const row = await store.findEndpoint(db, caller.workspaceId, ids.endpointId);
    const { id } = requireFound(row, 'endpoint');
    const filter = { state, type, ...range, before, limit: limit + 1 };
    const found = await deliveries.listDeliveries(db, id, filter);
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    const nextCursor = found.length > limit && last ? toId('event', last.id) : null;
    return { result: { deliveries: rows.map((one) => shownDelivery(one, caller)), nextCursor } };
  });

  route(app, deps, contract.resendDelivery, async ({ params, ids, caller }) => {
    requireWholeWorkspace(caller);
    const eventId = requireFound(fromId('event', params.eventId), 'event');
    await flow.resendDelivery(db, caller, ids.endpointId, eventId);
    return { result: { eventId } };
  });

  route(app, deps, contract.replayDeliveries, async ({ ids, body, caller }) => {
    requireWholeWorkspace(caller);
    const { state = null, ...dates } = body;
    const filter = { state, type: null, ...readRange(dates, undefined, 'Field') };
    const replayed = await flow.replayDeliveries(db, caller, ids.endpointId, filter);
    return { result: { replayed } };
  });

  route(app, deps, listEvents, async ({ query, caller }) => {
    const { workspaceId } = caller;
    const { after: shown } = query;
    const after = shown === undefined ? null : requireFound(fromId('event', shown), 'event');
    const endpointId =
      query.endpointId === undefined ? null : storedId('endpoint', query.endpointId);
    if (endpointId !== null && !(await store.markRead(db, workspaceId, endpointId))) {
      throw notFound('endpoint');
    }
    const page = { after, limit: query.limit ?? pageDefault, endpointId };
    const rows = await events.listEvents(db, workspaceId, page);
    if (!rows) {
      const message = 'There is no such event. Events are kept for 30 days.';
      throw new CallFailure('NOT_FOUND', message);
    }
    return { result: { events: rows.map((row) => ({ ...row, ...sentEvent(row) })) } };
  });

  route(app, deps, listExecutionEvents, async (context) => {
    const { params, caller } = context;
    const { id } = await visibleExecution(deps.reads, caller, params, (agent) =>
      allowAgentOrigins(context, agent),
    );
    const { workspaceId } = caller;
    const sent = await events.listEventsOf(db, { workspaceId, executionId: id });
    return { result: { events: sent.map(withDeliveries) } };
  });
}

function shownEndpoint(row: store.EndpointRow) {
  return { ...row, url: row.url === null ? null : shownURL(row.url) };
}

/** What receivers answer may repeat what they were sent: only who may read executions sees it. */
function shownDelivery(row: deliveries.DeliveryRow, { rights }: Caller) {
  const mayRead = rights.includes('read');
  const attempts = row.attempts.map((one) => ({ ...one, answer: mayRead ? one.answer : null }));
  return { ...row, eventId: row.id, request: sentEvent(row), attempts };
}

/** An event about an execution, with what was sent of it. */
function withDeliveries(event: events.SentEvent) {
  const deliveries = event.deliveries.map(({ last, ...delivery }) => ({
    ...delivery,
    lastAttemptAt: last?.at ?? null,
    lastStatus: last?.status ?? null,
    lastError: last?.error ?? null,
    nextAttemptAt: delivery.nextAttemptAt && new Date(delivery.nextAttemptAt),
  }));
  return { ...event, timestamp: event.at, deliveries };
}

function sentEvent(event: StoredEvent) {
  return { type: event.type, timestamp: event.at, data: JSON.parse(thinData(event)) };
}
