import type { Delivery, EventEndpoint } from '../../../contract/events/endpoints.ts';
import type { Event, ExecutionEvent } from '../../../contract/events/events.ts';
import { shownURL } from '../../../core/event/endpoint.ts';
import { type StoredEvent, thinData } from '../../../core/event/event.ts';
import { toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { DeliveryRow } from '../../../store/event/deliveries.ts';
import type { EndpointRow } from '../../../store/event/endpoints.ts';
import type { SentDelivery, SentEvent } from '../../../store/event/events.ts';

/** Endpoints, deliveries and events in API format. */

export function endpointWire(row: EndpointRow): EventEndpoint {
  const { url, payload, format, description, enabled, disabledBecause, pending } = row;
  const time = (at: Date | null) => at?.toISOString() ?? null;
  return {
    endpointId: toId('endpoint', row.id),
    url: url === null ? null : shownURL(url),
    eventTypes: [...row.eventTypes],
    agentIds: row.agentIds?.map((id) => toId('agent', id)) ?? null,
    ...{ payload, format, description, enabled, disabledBecause },
    disabledAt: time(row.disabledAt),
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy && toId('user', row.createdBy),
    apiKeyId: row.apiKeyId && toId('key', row.apiKeyId),
    failingSince: time(row.failingSince),
    lastSuccessAt: time(row.lastSuccessAt),
    pending,
  };
}

export function eventWire(event: StoredEvent): Event {
  return { eventId: toId('event', event.id), ...requestWire(event) };
}

/** What receivers answer may repeat what they were sent: only who may read executions sees it. */
export function deliveryWire(row: DeliveryRow, { rights }: Pick<Caller, 'rights'>): Delivery {
  const mayRead = rights.includes('read');
  return {
    eventId: toId('event', row.id),
    type: row.type,
    state: row.state,
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    request: requestWire(row),
    attempts: row.attempts.map(({ at, status, answer, error }) => ({
      ...{ at, status, error },
      answer: mayRead ? answer : null,
    })),
  };
}

export function executionEventWire({ id, type, at, deliveries }: SentEvent): ExecutionEvent {
  const timestamp = at.toISOString();
  return { eventId: toId('event', id), type, timestamp, deliveries: deliveries.map(sentWire) };
}

function sentWire({ endpointId, description, state, attempts, last, nextAttemptAt }: SentDelivery) {
  return {
    endpointId: toId('endpoint', endpointId),
    ...{ description, state, attempts },
    lastAttemptAt: last?.at ?? null,
    lastStatus: last?.status ?? null,
    lastError: last?.error ?? null,
    nextAttemptAt: nextAttemptAt && new Date(nextAttemptAt).toISOString(),
  };
}

function requestWire(event: StoredEvent) {
  const data = JSON.parse(thinData(event)) as Record<string, unknown>;
  return { type: event.type, timestamp: event.at.toISOString(), data };
}
