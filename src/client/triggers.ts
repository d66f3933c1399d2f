import type { Declaration } from './client-records.ts';
import type { Connection } from './method.ts';
import type { CallOptions } from './request.ts';

/** Schedules and inbound webhooks, which start workflow runs, and declarations. */

export function triggers({ method, plain }: Connection) {
  return {
    schedules: {
      create: plain('createSchedule'),
      list: plain('listSchedules'),
      get: plain('getSchedule'),
      update: plain('updateSchedule'),
      delete: plain('deleteSchedule'),
    },
    webhooks: {
      /** Includes the secret, which is shown once. */
      create: plain('createWebhook'),
      list: plain('listWebhooks'),
      /** Includes the new secret, which is shown once. */
      rotate(
        workflowId: string,
        webhookId: string,
        { secret, ...options }: CallOptions & { readonly secret?: string } = {},
      ) {
        const body = secret === undefined ? {} : { secret };
        return method('rotateWebhook')(workflowId, webhookId, body, options);
      },
      /** The last events, newest first. */
      log: plain('getWebhookLog'),
      delete: plain('deleteWebhook'),
      /** Sends an event. `signed` contains the headers with its signature. */
      send(
        webhookId: string,
        event: Record<string, unknown>,
        signed: Readonly<Record<string, string>>,
        options?: CallOptions,
      ) {
        return method('receiveWebhook')(webhookId, event, { ...options, headers: signed });
      },
    },
    declaration: {
      /** The current state of the workspace as a declaration. */
      read: plain('getDeclaration'),
      /** Applies everything or nothing. A dry run only lists the changes. */
      apply(declared: Declaration, dryRun = false, options?: CallOptions) {
        return method('applyDeclaration')({ declaration: declared, dryRun }, options);
      },
    },
  };
}
