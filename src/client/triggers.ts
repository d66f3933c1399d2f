import type { ChangeOptions, PageQuery } from './agents.ts';
import type { CallOptions, Request } from './request.ts';
import type { BodyOf, Output } from './routes.ts';

/** Schedules and inbound webhooks, which start workflow runs, and declarations. */

export type Schedule = Output<'GET /api/v1/workflows/{workflowId}/schedules/{scheduleId}'>;
export type ScheduleInput = BodyOf<'POST /api/v1/workflows/{workflowId}/schedules'>;
export type SchedulePatch = BodyOf<'PATCH /api/v1/workflows/{workflowId}/schedules/{scheduleId}'>;
export type IssuedWebhook = Output<'POST /api/v1/workflows/{workflowId}/webhooks'>;
export type WebhookInput = BodyOf<'POST /api/v1/workflows/{workflowId}/webhooks'>;
export type DeclarationRead = Output<'GET /api/v1/declaration'>;
export type Declaration = DeclarationRead['declaration'];
export type DeclarationChange = Output<'POST /api/v1/declaration'>['changes'][number];

const oneSchedule = '/api/v1/workflows/{workflowId}/schedules/{scheduleId}';

export function schedules(request: Request) {
  return {
    async create(
      workflowId: string,
      schedule: ScheduleInput,
      options?: CallOptions,
    ): Promise<Schedule> {
      const input = { params: { workflowId }, body: schedule };
      return (await request('POST /api/v1/workflows/{workflowId}/schedules', input, options)).body;
    },
    async list(workflowId: string, query: PageQuery = {}, options?: CallOptions) {
      const input = { params: { workflowId }, query };
      return (await request('GET /api/v1/workflows/{workflowId}/schedules', input, options)).body;
    },
    async get(workflowId: string, scheduleId: string, options?: CallOptions): Promise<Schedule> {
      const input = { params: { workflowId, scheduleId } };
      return (await request(`GET ${oneSchedule}`, input, options)).body;
    },
    async update(
      workflowId: string,
      scheduleId: string,
      patch: SchedulePatch,
      options?: ChangeOptions,
    ): Promise<Schedule> {
      const input = { params: { workflowId, scheduleId }, body: patch };
      return (await request(`PATCH ${oneSchedule}`, input, options)).body;
    },
    async delete(workflowId: string, scheduleId: string, options?: CallOptions): Promise<void> {
      await request(`DELETE ${oneSchedule}`, { params: { workflowId, scheduleId } }, options);
    },
  };
}

const oneWebhook = '/api/v1/workflows/{workflowId}/webhooks/{webhookId}';

export function webhooks(request: Request) {
  return {
    /** Includes the secret, which is shown once. */
    async create(
      workflowId: string,
      webhook: WebhookInput,
      options?: CallOptions,
    ): Promise<IssuedWebhook> {
      const input = { params: { workflowId }, body: webhook };
      return (await request('POST /api/v1/workflows/{workflowId}/webhooks', input, options)).body;
    },
    async list(workflowId: string, query: PageQuery = {}, options?: CallOptions) {
      const input = { params: { workflowId }, query };
      return (await request('GET /api/v1/workflows/{workflowId}/webhooks', input, options)).body;
    },
    /** Includes the new secret, which is shown once. */
    async rotate(
      workflowId: string,
      webhookId: string,
      options?: CallOptions,
    ): Promise<IssuedWebhook> {
      const input = { params: { workflowId, webhookId } };
      return (await request(`POST ${oneWebhook}/rotate`, input, options)).body;
    },
    async delete(workflowId: string, webhookId: string, options?: CallOptions): Promise<void> {
      await request(`DELETE ${oneWebhook}`, { params: { workflowId, webhookId } }, options);
    },
    /** Sends an event. `signed` contains the headers of Standard Webhooks. */
    async send(
      webhookId: string,
      event: Record<string, unknown>,
      signed: Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>,
      options?: CallOptions,
    ) {
      const input = { params: { webhookId }, body: event };
      const call = { ...options, headers: signed };
      return (await request('POST /api/v1/webhooks/{webhookId}', input, call)).body;
    },
  };
}

export function declaration(request: Request) {
  return {
    /** The current state of the workspace as a declaration. */
    async read(options?: CallOptions): Promise<DeclarationRead> {
      return (await request('GET /api/v1/declaration', {}, options)).body;
    },
    /** Applies everything or nothing. A dry run only lists the changes. */
    async apply(declared: Declaration, dryRun = false, options?: CallOptions) {
      const body = { declaration: declared, dryRun };
      return (await request('POST /api/v1/declaration', { body }, options)).body;
    },
  };
}
