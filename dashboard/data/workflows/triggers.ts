import { resource } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

export const schedules = resource('schedules', 'Schedule', cueline.schedules);

export type Webhook = Awaited<ReturnType<typeof cueline.webhooks.list>>['webhooks'][number];

/** The result of a created or rotated webhook has its secret, which is shown once and never cached. */
export const webhooks = resource('webhooks', 'Webhook', cueline.webhooks);

export const webhookLogQuery = ({ workflowId, webhookId }: Webhook) =>
  webhooks.query(['log', webhookId], (options) =>
    cueline.webhooks.log(workflowId, webhookId, options),
  );

export const rotateWebhook = ({ workflowId, webhookId }: Webhook) =>
  webhooks.action<
    { readonly secret?: string },
    Awaited<ReturnType<typeof cueline.webhooks.rotate>>
  >((chosen) => cueline.webhooks.rotate(workflowId, webhookId, chosen), 'Webhook secret rotated');
