import { type Static, Type } from 'typebox';
import { eventTypes } from '../../core/event/event.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { problems } from '../problem.ts';
import { id, oneOf, query, reference, time } from '../shared.ts';

const Event = Type.Object(
  {
    eventId: id('event', 'Identifier, the same as `webhook-id`.'),
    type: oneOf(eventTypes),
    timestamp: time('When it happened.'),
    data: Type.Object(
      {},
      { additionalProperties: true, description: 'As sent with `payload: thin`.' },
    ),
  },
  { title: 'Event' },
);
export type Event = Static<typeof Event>;

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
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.pageMax,
        default: limits.pageDefault,
        description: 'Events at most.',
      }),
    ),
    endpointId: Type.Optional(
      reference('endpoint', 'Only events to which this endpoint subscribes.'),
    ),
  }),
  responses: {
    200: Type.Object({ events: Type.Array(Event) }, { title: 'EventList' }),
    ...problems(404),
  },
});
