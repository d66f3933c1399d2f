import { queryOptions } from '@tanstack/react-query';
import type { ScheduleInput, SchedulePatch } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useInvalidatingMutation } from '../client/use-invalidating-mutation.ts';

export const schedulesQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ['schedules', workflowId],
    queryFn: ({ signal }) => cueline.schedules.list(workflowId, { limit: 100 }, { signal }),
    // The next times pass while the page is open.
    refetchInterval: 60_000,
  });

export const useCreateSchedule = (workflowId: string) =>
  useInvalidatingMutation(
    (schedule: ScheduleInput) => cueline.schedules.create(workflowId, schedule),
    ['schedules', workflowId],
    'Schedule created',
  );

export const useChangeSchedule = (workflowId: string, scheduleId: string) =>
  useInvalidatingMutation(
    (patch: SchedulePatch) => cueline.schedules.update(workflowId, scheduleId, patch),
    ['schedules', workflowId],
  );

export const useDeleteSchedule = (workflowId: string) =>
  useInvalidatingMutation(
    (scheduleId: string) => cueline.schedules.delete(workflowId, scheduleId),
    ['schedules', workflowId],
    'Schedule deleted',
  );

export type Webhook = Awaited<ReturnType<typeof cueline.webhooks.list>>['webhooks'][number];

export const webhooksQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ['webhooks', workflowId],
    queryFn: ({ signal }) => cueline.webhooks.list(workflowId, { limit: 100 }, { signal }),
  });

/** The result holds the secret, which is shown once and never cached. */
export const useCreateWebhook = (workflowId: string) =>
  useInvalidatingMutation(
    (name: string) => cueline.webhooks.create(workflowId, { name }),
    ['webhooks', workflowId],
    'Webhook created',
  );

export const useRotateWebhook = (workflowId: string) =>
  useInvalidatingMutation(
    (webhookId: string) => cueline.webhooks.rotate(workflowId, webhookId),
    ['webhooks', workflowId],
    'Webhook secret rotated',
  );

export const useDeleteWebhook = (workflowId: string) =>
  useInvalidatingMutation(
    (webhookId: string) => cueline.webhooks.delete(workflowId, webhookId),
    ['webhooks', workflowId],
    'Webhook deleted',
  );
