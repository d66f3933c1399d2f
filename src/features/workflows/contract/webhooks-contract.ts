import { Type } from 'typebox';
import { endpoint } from '../../../http/contract/operation.ts';
import {
  ListLimitProblem,
  problems,
  WorkflowInputProblem,
} from '../../../http/contract/problem.ts';
import {
  body,
  creation,
  id,
  name,
  ownId,
  page,
  pageQuery,
  query,
} from '../../../http/contract/shared.ts';
import { WorkflowExecuteAccepted } from './workflow-run-record.ts';

const tag = 'Workflows';
const managed = { tag, auth: 'manage' } as const;

const fields = {
  webhookId: ownId('webhook'),
  workflowId: id('workflow', 'The workflow to start.'),
  name: Type.String(),
  path: Type.String({ description: 'Path that receives events: `/api/v1/webhooks/{webhookId}`.' }),
  ...creation,
};

export const Webhook = Type.Object(fields, { title: 'Webhook' });

const IssuedWebhook = Type.Object(
  {
    ...fields,
    secret: Type.String({
      description: 'Signing secret `whsec_…`. Shown once and stored encrypted.',
    }),
  },
  { title: 'IssuedWebhook' },
);

const ofWorkflow = '/api/v1/workflows/{workflowId}/webhooks';

export const createWebhook = endpoint({
  ...managed,
  id: 'createWebhook',
  method: 'POST',
  path: ofWorkflow,
  summary: 'Create an inbound webhook',
  description:
    'Each event sent to the webhook starts a workflow run. Events are signed with the secret as in [Standard Webhooks](https://www.standardwebhooks.com). Also needs the permission `execute`.',
  body: body('WebhookInput', { name: name('Display name, for example the sender of the events.') }),
  responses: { 201: IssuedWebhook, ...problems(404, 409) },
});

export const listWebhooks = endpoint({
  id: 'listWebhooks',
  method: 'GET',
  path: ofWorkflow,
  summary: 'List the inbound webhooks of a workflow',
  description: 'Sorted newest first. Omits the secrets.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query(pageQuery),
  responses: { 200: page('WebhookList', 'webhooks', Webhook), ...problems(404) },
});

export const rotateWebhook = endpoint({
  ...managed,
  id: 'rotateWebhook',
  method: 'POST',
  path: `${ofWorkflow}/{webhookId}/rotate`,
  summary: 'Replace the secret of an inbound webhook',
  description:
    'The old secret becomes invalid immediately. Senders retry the events rejected meanwhile. Also needs the permission `execute`.',
  responses: { 200: IssuedWebhook, ...problems(404) },
});

export const deleteWebhook = endpoint({
  ...managed,
  id: 'deleteWebhook',
  method: 'DELETE',
  path: `${ofWorkflow}/{webhookId}`,
  summary: 'Delete an inbound webhook',
  responses: { 204: null, ...problems(404) },
});

export const receiveWebhook = endpoint({
  id: 'receiveWebhook',
  method: 'POST',
  path: '/api/v1/webhooks/{webhookId}',
  summary: 'Send an event to an inbound webhook',
  description:
    "Starts a workflow run with the JSON object of the body as its input. Signed as in Standard Webhooks; `webhook-timestamp` may differ from the server's clock by five minutes. `webhook-id` makes the request idempotent: the same event starts one run. The names `svix-id`, `svix-timestamp` and `svix-signature` are accepted as well. Returns 401, whatever the body, if the signature over its bytes is invalid or the webhook does not exist, and if the timestamp of a signed event is out of range; 429 if the webhook exceeded its events per minute.",
  tag,
  auth: 'none',
  headers: Type.Object({
    'webhook-id': Type.Optional(Type.String({ description: 'Identifies the event. Required.' })),
    'webhook-timestamp': Type.Optional(
      Type.String({ description: 'Seconds since 1970. Required.' }),
    ),
    'webhook-signature': Type.Optional(Type.String({ description: 'Signature `v1,…`. Required.' })),
  }),
  body: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'Input of the workflow run.',
  }),
  responses: {
    202: WorkflowExecuteAccepted,
    400: WorkflowInputProblem,
    ...problems(401, 403, 422),
    429: ListLimitProblem,
    ...problems(503),
  },
  responseHeaders: ['RateLimit', 'Idempotent-Replayed'],
});
