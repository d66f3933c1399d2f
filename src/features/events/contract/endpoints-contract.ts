import { Type } from 'typebox';
import {
  deliveryStates,
  disabledReasons,
  endpointFormats,
  endpointPayloads,
  endpointsMax,
} from '../../../core/event/endpoint.ts';
import { eventTypes } from '../../../core/event/event.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { problems } from '../../../http/contract/problem.ts';
import {
  body,
  graceSeconds,
  id,
  nullable,
  oneOf,
  optional,
  ownId,
  pageQuery,
  query,
  reference,
  text,
  time,
} from '../../../http/contract/shared.ts';

const tag = 'Events';
const readable = { method: 'GET', tag, auth: 'own' } as const;
const managed = { tag, auth: 'own' } as const;

const eventType = oneOf(eventTypes);

/** What POST and PATCH accept. */
const settings = {
  eventTypes: Type.Array(eventType, {
    minItems: 1,
    maxItems: eventTypes.length,
    uniqueItems: true,
    description: 'The events to send. Default: those of alerts.',
  }),
  agentIds: nullable(
    Type.Array(reference('agent'), {
      minItems: 1,
      maxItems: limits.agentsPerKeyMax,
      uniqueItems: true,
    }),
    'Only events of these agents, among `execution.*` and `agent.*`. `null`: all agents.',
  ),
  payload: oneOf(
    endpointPayloads,
    '`full` adds `outputText`, `outputJson` and `inputVariables` to events of executions. Default: `thin`.',
  ),
  format: oneOf(
    endpointFormats,
    '`slack` sends `{"text": …}` for Slack, Teams and the like. Default: `slack` for URLs of incoming webhooks of Slack and Teams, else `standard`.',
  ),
  description: nullable(text(limits.descriptionMax), 'For people.'),
};

const url = nullable(
  Type.String({
    ...{ maxLength: limits.urlMax, pattern: patterns.url.source },
    examples: ['https://hooks.example.com/cueline'],
  }),
  'Where to send the events, `https://` and not a private address unless the server allows it. It is encrypted, and no response shows its path and query; what a response shows instead changes nothing here. `null`: a pull endpoint, whose events are read by `GET /api/v1/events`; it is deleted after ten minutes without a read.',
);

const fields = {
  endpointId: ownId('endpoint'),
  url: nullable(
    Type.String({ examples: ['https://hooks.slack.com/…'] }),
    'Its origin and `/…`: path and query may be a secret. `null`: a pull endpoint.',
  ),
  eventTypes: Type.Array(eventType),
  agentIds: nullable(Type.Array(id('agent'))),
  payload: oneOf(endpointPayloads),
  format: oneOf(endpointFormats),
  description: nullable(Type.String()),
  enabled: Type.Boolean({ description: 'Whether it receives events.' }),
  disabledBecause: nullable(
    oneOf(disabledReasons),
    '`owner`: by a PATCH. `gone`: it answered 410. `failing`: five days without success. `key_ended`: the key that created it ended or lost its permission. `null` while enabled.',
  ),
  disabledAt: nullable(time('Since when.')),
  createdAt: time('Time of creation.'),
  createdBy: nullable(id('user', 'Creator. `null`: it belongs to the workspace.')),
  apiKeyId: nullable(id('key', 'The key that created it, whose permissions it has.')),
  failingSince: nullable(time('The first failed attempt since the last success.')),
  lastSuccessAt: nullable(time('The last success, exact to a minute.')),
  pending: Type.Integer({ minimum: 0, description: 'Deliveries that are pending.' }),
};

export const EventEndpoint = Type.Object(fields, { title: 'EventEndpoint' });

const secret = Type.String({
  description: 'Signing secret `whsec_…`. Shown once and stored encrypted.',
});

const IssuedEventEndpoint = Type.Object({ ...fields, secret }, { title: 'IssuedEventEndpoint' });

const all = '/api/v1/endpoints';
const one = '/api/v1/endpoints/{endpointId}';

export const createEndpoint = endpoint({
  ...managed,
  id: 'createEndpoint',
  method: 'POST',
  path: all,
  summary: 'Create an endpoint for events',
  description: `Events are signed as in [Standard Webhooks](https://www.standardwebhooks.com). A workspace has at most ${endpointsMax} endpoints. An endpoint that a key creates has the permissions that this key has at any time.`,
  body: body('EventEndpointInput', { url, ...optional(settings) }),
  responses: { 201: IssuedEventEndpoint, ...problems(404, 409) },
  responseHeaders: ['Location'],
});

export const listEndpoints = endpoint({
  ...readable,
  id: 'listEndpoints',
  path: all,
  summary: 'List the endpoints for events',
  description: 'Oldest first. Omits the secrets.',
  responses: {
    200: Type.Object({ endpoints: Type.Array(EventEndpoint) }, { title: 'EventEndpointList' }),
  },
});

export const getEndpoint = endpoint({
  ...readable,
  id: 'getEndpoint',
  path: one,
  summary: 'Get an endpoint',
  responses: { 200: EventEndpoint, ...problems(404) },
});

export const updateEndpoint = endpoint({
  ...managed,
  id: 'updateEndpoint',
  method: 'PATCH',
  path: one,
  summary: 'Change, disable or enable an endpoint',
  description:
    'An omitted field does not change. What is pending fails when the endpoint is disabled, and can be replayed later.',
  body: body('EventEndpointPatch', {
    ...optional({ url, ...settings }),
    enabled: Type.Optional(Type.Boolean({ description: 'Whether it receives events.' })),
  }),
  responses: { 200: EventEndpoint, ...problems(404) },
});

export const deleteEndpoint = endpoint({
  ...managed,
  id: 'deleteEndpoint',
  method: 'DELETE',
  path: one,
  summary: 'Delete an endpoint and its delivery log',
  description: 'It receives nothing more.',
  responses: { 204: null, ...problems(404) },
});

export const rotateEndpoint = endpoint({
  ...managed,
  id: 'rotateEndpoint',
  method: 'POST',
  path: `${one}/rotate`,
  summary: 'Replace the secret of an endpoint',
  description: 'During the grace period both secrets sign each event.',
  body: body('EndpointRotation', {
    graceSeconds: graceSeconds('How long the old secret still signs.'),
  }),
  bodyOptional: true,
  responses: {
    200: Type.Object({ secret }, { title: 'RotatedEndpoint' }),
    ...problems(404),
  },
});

export const testEndpoint = endpoint({
  ...managed,
  id: 'testEndpoint',
  method: 'POST',
  path: `${one}/test`,
  summary: 'Send a ping to an endpoint',
  description: 'Whatever it subscribes to. The result is in the delivery log.',
  responses: {
    202: Type.Object({ endpointId: id('endpoint') }, { title: 'EndpointTest' }),
    ...problems(404, 409),
  },
});

const Delivery = Type.Object(
  {
    eventId: id('event', 'Sent as `webhook-id`.'),
    type: eventType,
    state: oneOf(deliveryStates, '`failed`: after the last attempt, or the endpoint was disabled.'),
    nextAttemptAt: nullable(time('The next attempt. `null` unless pending.')),
    request: Type.Object(
      {
        type: eventType,
        timestamp: time('Time of the event.'),
        data: Type.Object({}, { additionalProperties: true }),
      },
      { description: 'What is sent, without what `full` adds.' },
    ),
    attempts: Type.Array(
      Type.Object({
        at: time('When it began.'),
        status: nullable(Type.Integer(), '`null` without an answer.'),
        error: nullable(Type.String(), '`null` for a success.'),
        answer: nullable(
          Type.String(),
          'The first 1,000 characters, without what they repeat of the URL. `null` without an answer, for a key without `read`, or once its user was erased.',
        ),
      }),
      { description: 'The last 50, oldest first.' },
    ),
  },
  { title: 'Delivery' },
);

const bound = (description: string) => Type.Optional(Type.String({ description }));

export const listDeliveries = endpoint({
  ...readable,
  id: 'listDeliveries',
  path: `${one}/deliveries`,
  summary: 'List what was sent to an endpoint',
  description: 'Newest first. Deliveries are kept for 30 days.',
  query: query({
    state: Type.Optional(oneOf(deliveryStates, 'Only deliveries in this state.')),
    type: Type.Optional(oneOf(eventTypes, 'Only events of this type.')),
    startDate: bound('Only events from this time on (ISO 8601).'),
    endDate: bound('Only events up to this time (ISO 8601).'),
    cursor: Type.Optional(
      Type.String({ maxLength: limits.cursorMax, description: 'A `nextCursor`.' }),
    ),
    limit: pageQuery.limit,
  }),
  responses: {
    200: Type.Object(
      {
        deliveries: Type.Array(Delivery),
        nextCursor: Type.Optional(
          Type.String({ description: 'Value for `cursor`. Absent on the last page.' }),
        ),
      },
      { title: 'DeliveryList' },
    ),
    ...problems(404),
  },
});

export const resendDelivery = endpoint({
  ...managed,
  id: 'resendDelivery',
  method: 'POST',
  path: `${one}/deliveries/{eventId}/resend`,
  summary: 'Send an event to an endpoint again',
  description: 'At once, then with a new series of attempts.',
  responses: {
    202: Type.Object({ eventId: id('event') }, { title: 'DeliveryResend' }),
    ...problems(404, 409),
  },
});

export const replayDeliveries = endpoint({
  ...managed,
  id: 'replayDeliveries',
  method: 'POST',
  path: `${one}/replay`,
  summary: 'Send the events of a time again',
  description:
    'Pending deliveries need not wait for their next attempt. Those that are due stay as they are.',
  body: body('DeliveryReplay', {
    startDate: Type.String({ description: 'From this time on (ISO 8601).' }),
    endDate: Type.String({ description: 'Up to this time (ISO 8601).' }),
    state: Type.Optional(oneOf(deliveryStates, 'Only deliveries in this state.')),
  }),
  responses: {
    202: Type.Object(
      { replayed: Type.Integer({ minimum: 0, description: 'Deliveries that are sent again.' }) },
      { title: 'Replayed' },
    ),
    ...problems(404, 409),
  },
});
