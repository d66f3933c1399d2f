import { resource } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

export const schedules = resource('schedules', 'Schedule', cueline.schedules);

export type Webhook = Awaited<ReturnType<typeof cueline.webhooks.list>>['webhooks'][number];

/** The result of a created or rotated webhook has its secret, which is shown once and never cached. */
export const webhooks = resource('webhooks', 'Webhook', cueline.webhooks);

export const rotateWebhook = ({ workflowId, webhookId }: Webhook) =>
  webhooks.action<void, Awaited<ReturnType<typeof cueline.webhooks.rotate>>>(
    () => cueline.webhooks.rotate(workflowId, webhookId),
    'Webhook secret rotated',
  );
