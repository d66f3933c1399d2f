import { Type } from 'typebox';
import { deliveryStates } from '../../../core/event/endpoint.ts';
import { eventTypes } from '../../../core/event/event.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { problems } from '../../../http/contract/problem.ts';
import {
  id,
  nullable,
  oneOf,
  ownId,
  pageLimit,
  query,
  reference,
  time,
} from '../../../http/contract/shared.ts';

const eventFields = {
  eventId: ownId('event', 'Identifier, the same as `webhook-id`.'),
  type: oneOf(eventTypes),
  timestamp: time('When it happened.'),
};

const Event = Type.Object(
  {
    ...eventFields,
    data: Type.Object(
      {},
      { additionalProperties: true, description: 'As sent with `payload: thin`.' },
    ),
  },
  { title: 'Event' },
);

export const listEvents = endpoint({
  id: 'listEvents',
  method: 'GET',
  path: '/api/v1/events',
  summary: 'Read events',
  description:
    'Oldest first. A reader that continues after the last event it saw misses none, also none that commits later. An event is kept for 30 days, and only if an endpoint subscribed to it when it happened.',
  tag: 'Events',
  auth: 'own',
  query: query({
    after: Type.Optional(
      reference('event', 'Only events after this one. Default: from the oldest one on.'),
    ),
    limit: pageLimit('Events at most.'),
    endpointId: Type.Optional(
      reference('endpoint', 'Only events to which this endpoint subscribes.'),
    ),
  }),
  responses: {
    200: Type.Object({ events: Type.Array(Event) }, { title: 'EventList' }),
    ...problems(404),
  },
});

/** Where an event was sent. Not the URL, which may contain a secret. */
const EventDelivery = Type.Object(
  {
    endpointId: id('endpoint', 'The endpoint.'),
    description: nullable(Type.String(), 'Description of the endpoint.'),
    state: oneOf(deliveryStates),
    attempts: Type.Integer({ minimum: 0, description: 'Attempts that the log keeps.' }),
    lastAttemptAt: nullable(time('The last attempt. `null` before the first one.')),
    lastStatus: nullable(Type.Integer(), 'What it answered. `null` without an answer.'),
    lastError: nullable(Type.String(), 'Why the last attempt was no success.'),
    nextAttemptAt: nullable(time('The next attempt. `null` unless pending.')),
  },
  { title: 'EventDelivery' },
);

const ExecutionEvent = Type.Object(
  {
    ...eventFields,
    deliveries: Type.Array(EventDelivery, {
      description: 'By endpoint. Pull endpoints have none.',
    }),
  },
  { title: 'ExecutionEvent' },
);

export const listExecutionEvents = endpoint({
  id: 'listExecutionEvents',
  method: 'GET',
  path: '/api/v1/agents/{agentId}/executions/{executionId}/events',
  summary: 'List the events sent for an execution',
  description:
    'Oldest first, with the state of each delivery. Endpoints have their identifier and description, without URL and answers. Empty if no endpoint subscribed to the event when it happened, and after 30 days.',
  tag: 'Executions',
  auth: 'read',
  responses: {
    200: Type.Object({ events: Type.Array(ExecutionEvent) }, { title: 'ExecutionEventList' }),
    ...problems(404),
  },
});
