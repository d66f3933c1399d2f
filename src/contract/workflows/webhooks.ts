import { type Static, Type } from 'typebox';
import { endpoint } from '../endpoint.ts';
import { ListLimitProblem, problems, WorkflowInputProblem } from '../problem.ts';
import { body, id, name, nullable, page, pageQuery, query, time } from '../shared.ts';
import { WorkflowExecuteAccepted } from './workflow-run-record.ts';

const tag = 'Workflows';

const fields = {
  webhookId: id('webhook', 'Identifier.'),
  workflowId: id('workflow', 'The workflow that it starts.'),
  name: Type.String(),
  path: Type.String({ description: 'Where events are sent to: `/api/v1/webhooks/{webhookId}`.' }),
  createdAt: time('When it was created.'),
  createdBy: nullable(id('user', 'Who created it; `null` where that account is gone.')),
};

export const Webhook = Type.Object(fields, { title: 'Webhook' });
export type Webhook = Static<typeof Webhook>;

const IssuedWebhook = Type.Object(
  {
    ...fields,
    secret: Type.String({
      description: 'What events are signed with, `whsec_…`: shown this once and stored encrypted.',
    }),
  },
  { title: 'IssuedWebhook' },
);

const ofWorkflow = '/api/v1/workflows/{workflowId}/webhooks';

export const createWebhook = endpoint({
  id: 'createWebhook',
  method: 'POST',
  path: ofWorkflow,
  summary: 'Create an inbound webhook',
  description:
    'An address at which events start runs of the workflow, each signed with the secret as in [Standard Webhooks](https://www.standardwebhooks.com). Needs the permission `execute` as well.',
  tag,
  auth: 'manage',
  body: body('WebhookInput', { name: name('For people; where the events come from.') }),
  answers: { 201: IssuedWebhook, ...problems(404, 409) },
});

export const listWebhooks = endpoint({
  id: 'listWebhooks',
  method: 'GET',
  path: ofWorkflow,
  summary: 'List the inbound webhooks of a workflow',
  description: 'Newest first, without the secrets.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query(pageQuery),
  answers: { 200: page('WebhookList', 'webhooks', Webhook), ...problems(404) },
});

export const rotateWebhook = endpoint({
  id: 'rotateWebhook',
  method: 'POST',
  path: `${ofWorkflow}/{webhookId}/rotate`,
  summary: 'Replace the secret of an inbound webhook',
  description:
    'The old one does not hold any more. Senders try again what was refused meanwhile. Needs the permission `execute` as well.',
  tag,
  auth: 'manage',
  answers: { 200: IssuedWebhook, ...problems(404) },
});

export const deleteWebhook = endpoint({
  id: 'deleteWebhook',
  method: 'DELETE',
  path: `${ofWorkflow}/{webhookId}`,
  summary: 'Delete an inbound webhook',
  tag,
  auth: 'manage',
  answers: { 204: null, ...problems(404) },
});

export const receiveWebhook = endpoint({
  id: 'receiveWebhook',
  method: 'POST',
  path: '/api/v1/webhooks/{webhookId}',
  summary: 'Send an event to an inbound webhook',
  description:
    "Starts a run whose input is the JSON object of the body. Signed as in Standard Webhooks; `webhook-timestamp` may be five minutes from the server's clock. `webhook-id` makes it repeatable: the same event starts one run. 401 wherever the signature does not hold, also where there is no such webhook. 429 where the webhook has taken as many events in this minute as it may.",
  tag,
  auth: 'none',
  headers: Type.Object({
    'webhook-id': Type.Optional(Type.String({ description: 'Names the event; required.' })),
    'webhook-timestamp': Type.Optional(
      Type.String({ description: 'Seconds since 1970; required.' }),
    ),
    'webhook-signature': Type.Optional(Type.String({ description: '`v1,…`; required.' })),
  }),
  body: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'The input of the run.',
  }),
  answers: {
    202: WorkflowExecuteAccepted,
    400: WorkflowInputProblem,
    ...problems(401, 403, 422),
    429: ListLimitProblem,
    ...problems(503),
  },
  sends: ['RateLimit', 'Idempotent-Replayed'],
});
