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
  nullable,
  oneOf,
  ownId,
  page,
  pageQuery,
  query,
  time,
} from '../../../http/contract/shared.ts';
import { webhookSignatures } from '../rules/webhook.ts';
import { WorkflowExecuteAccepted } from './workflow-run-record.ts';

const tag = 'Workflows';
const managed = { tag, auth: 'manage' } as const;

const secretCharsMin = 6;
const secretCharsMax = 255;

const signatureText =
  'How the sender signs: `standard` as in [Standard Webhooks](https://www.standardwebhooks.com), or as `github`, `stripe` or `slack` do.';

const secret = Type.Optional(
  Type.String({
    minLength: secretCharsMin,
    maxLength: secretCharsMax,
    description:
      'Secret that the sender has chosen, used as text; of `standard`, `whsec_` with base64 is decoded. Default: a new one.',
  }),
);

const fields = {
  webhookId: ownId('webhook'),
  workflowId: id('workflow', 'The workflow to start.'),
  name: Type.String(),
  signature: oneOf(webhookSignatures, signatureText),
  path: Type.String({ description: 'Path that receives events: `/api/v1/webhooks/{webhookId}`.' }),
  ...creation,
};

export const Webhook = Type.Object(fields, { title: 'Webhook' });

const IssuedWebhook = Type.Object(
  {
    ...fields,
    secret: Type.String({
      description:
        'Signing secret: the given one, or a new `whsec_…`. Shown once and stored encrypted.',
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
    'Each event sent to the webhook starts a workflow run. Events are signed with the secret, in the way that `signature` names. Also needs the permission `execute`.',
  body: body('WebhookInput', {
    name: name('Display name, for example the sender of the events.'),
    signature: Type.Optional(oneOf(webhookSignatures, `${signatureText} Default: \`standard\`.`)),
    secret,
  }),
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
  body: body('WebhookRotation', { secret }),
  bodyOptional: true,
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

export const getWebhookLog = endpoint({
  id: 'getWebhookLog',
  method: 'GET',
  path: `${ofWorkflow}/{webhookId}/log`,
  summary: 'List the last events of an inbound webhook',
  description:
    'The last 100 events that were received or rejected, without their bodies, newest first. At most 20 of them are events that were not signed; of these, and of events above the limit per minute, 10 per minute and process are logged.',
  tag,
  auth: 'manage',
  session: 'read',
  responses: {
    200: Type.Object(
      {
        events: Type.Array(
          Type.Object(
            {
              receivedAt: time('Time when it arrived.'),
              outcome: oneOf(['received', 'rejected'] as const),
              status: Type.Integer({ description: 'Status of the response.' }),
              eventId: nullable(
                Type.String({
                  description:
                    'Identifier from `webhook-id` or `X-GitHub-Delivery`. `null` if there is none or the event was not signed.',
                }),
              ),
              workflowRunId: nullable(
                id('workflowRun', 'The run that it started. `null` if it started none.'),
              ),
              code: nullable(
                Type.String({ description: 'Code of the response. `null` if received.' }),
              ),
              message: nullable(
                Type.String({
                  description: 'Why it was rejected, without anything from the event.',
                }),
              ),
            },
            { title: 'ReceivedEvent' },
          ),
        ),
      },
      { title: 'WebhookLog' },
    ),
    ...problems(404),
  },
});

export const receiveWebhook = endpoint({
  id: 'receiveWebhook',
  method: 'POST',
  path: '/api/v1/webhooks/{webhookId}',
  summary: 'Send an event to an inbound webhook',
  description:
    "Starts a workflow run with the JSON object of the body as its input. The signature of the webhook names the headers: those of Standard Webhooks (`svix-id`, `svix-timestamp` and `svix-signature` are accepted as well), `X-Hub-Signature-256` of GitHub, `Stripe-Signature`, or `X-Slack-Signature` with `X-Slack-Request-Timestamp`. A timestamp may differ from the server's clock by five minutes. `webhook-id` or `X-GitHub-Delivery` makes the request idempotent: the same event starts one run. Slack's `url_verification` starts none and returns its challenge. Returns 401, whatever the body, if the signature over its bytes is invalid or the webhook does not exist, and if the timestamp of a signed event is out of range; 429 if the webhook exceeded its events per minute.",
  tag,
  auth: 'none',
  headers: Type.Object({
    'webhook-id': Type.Optional(
      Type.String({ description: 'Identifies the event. Required with `standard`.' }),
    ),
    'webhook-timestamp': Type.Optional(
      Type.String({ description: 'Seconds since 1970. Required with `standard`.' }),
    ),
    'webhook-signature': Type.Optional(
      Type.String({ description: 'Signature `v1,…`. Required with `standard`.' }),
    ),
  }),
  body: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'Input of the workflow run.',
  }),
  responses: {
    200: Type.Object(
      { challenge: Type.String({ description: "Slack's challenge." }) },
      { title: 'WebhookChallenge' },
    ),
    202: WorkflowExecuteAccepted,
    400: WorkflowInputProblem,
    ...problems(401, 403, 422),
    429: ListLimitProblem,
    ...problems(503),
  },
  responseHeaders: ['RateLimit', 'Idempotent-Replayed'],
});
