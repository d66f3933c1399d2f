import type { CallOptions, Request } from './request.ts';
import type { BodyOf, Output, QueryOf } from './routes.ts';

/** Endpoints that receive events, what was sent to them, the events themselves, and alerts. */

export type EventEndpoint = Output<'GET /api/v1/endpoints/{endpointId}'>;
/** Includes the secret, which is shown once. */
export type IssuedEventEndpoint = Output<'POST /api/v1/endpoints'>;
export type EventEndpointInput = BodyOf<'POST /api/v1/endpoints'>;
export type EventEndpointPatch = BodyOf<'PATCH /api/v1/endpoints/{endpointId}'>;
export type DeliveryFilters = QueryOf<'GET /api/v1/endpoints/{endpointId}/deliveries'>;
export type DeliveryPage = Output<'GET /api/v1/endpoints/{endpointId}/deliveries'>;
export type Delivery = DeliveryPage['deliveries'][number];
export type DeliveryReplay = BodyOf<'POST /api/v1/endpoints/{endpointId}/replay'>;
export type EventQuery = QueryOf<'GET /api/v1/events'>;
export type CuelineEvent = Output<'GET /api/v1/events'>['events'][number];
export type Alert = Output<'GET /api/v1/alerts/{alertId}'>;
export type AlertInput = BodyOf<'POST /api/v1/alerts'>;
export type AlertPatch = BodyOf<'PATCH /api/v1/alerts/{alertId}'>;
export type AlertPreviewInput = BodyOf<'POST /api/v1/alerts/preview'>;
export type AlertPreview = Output<'POST /api/v1/alerts/preview'>;

const one = '/api/v1/endpoints/{endpointId}';

export function endpoints(request: Request) {
  return {
    async create(
      endpoint: EventEndpointInput,
      options?: CallOptions,
    ): Promise<IssuedEventEndpoint> {
      return (await request('POST /api/v1/endpoints', { body: endpoint }, options)).body;
    },
    async list(options?: CallOptions): Promise<EventEndpoint[]> {
      return (await request('GET /api/v1/endpoints', {}, options)).body.endpoints;
    },
    async get(endpointId: string, options?: CallOptions): Promise<EventEndpoint> {
      return (await request(`GET ${one}`, { params: { endpointId } }, options)).body;
    },
    async update(
      endpointId: string,
      patch: EventEndpointPatch,
      options?: CallOptions,
    ): Promise<EventEndpoint> {
      const input = { params: { endpointId }, body: patch };
      return (await request(`PATCH ${one}`, input, options)).body;
    },
    async delete(endpointId: string, options?: CallOptions): Promise<void> {
      await request(`DELETE ${one}`, { params: { endpointId } }, options);
    },
    /** Returns the new secret. Both secrets sign during the grace period. */
    async rotate(
      endpointId: string,
      { graceSeconds = 0, ...options }: CallOptions & { readonly graceSeconds?: number } = {},
    ): Promise<string> {
      const input = { params: { endpointId }, body: { graceSeconds } };
      return (await request(`POST ${one}/rotate`, input, options)).body.secret;
    },
    /** Sends a `ping`. */
    async test(endpointId: string, options?: CallOptions): Promise<void> {
      await request(`POST ${one}/test`, { params: { endpointId } }, options);
    },
    /** Newest first. */
    async deliveries(
      endpointId: string,
      filters: DeliveryFilters = {},
      options?: CallOptions,
    ): Promise<DeliveryPage> {
      const input = { params: { endpointId }, query: filters };
      return (await request(`GET ${one}/deliveries`, input, options)).body;
    },
    async resend(endpointId: string, eventId: string, options?: CallOptions): Promise<void> {
      const input = { params: { endpointId, eventId } };
      await request(`POST ${one}/deliveries/{eventId}/resend`, input, options);
    },
    /** Returns how many deliveries are sent again. */
    async replay(
      endpointId: string,
      replay: DeliveryReplay,
      options?: CallOptions,
    ): Promise<number> {
      const input = { params: { endpointId }, body: replay };
      return (await request(`POST ${one}/replay`, input, options)).body.replayed;
    },
  };
}

export function events(request: Request) {
  return {
    /** Oldest first. Continue with the last `eventId` as `after`. */
    async events(query: EventQuery = {}, options?: CallOptions): Promise<CuelineEvent[]> {
      return (await request('GET /api/v1/events', { query }, options)).body.events;
    },
  };
}

const oneAlert = '/api/v1/alerts/{alertId}';

export function alerts(request: Request) {
  return {
    async create(alert: AlertInput, options?: CallOptions): Promise<Alert> {
      return (await request('POST /api/v1/alerts', { body: alert }, options)).body;
    },
    async list(options?: CallOptions): Promise<Alert[]> {
      return (await request('GET /api/v1/alerts', {}, options)).body.alerts;
    },
    async get(alertId: string, options?: CallOptions): Promise<Alert> {
      return (await request(`GET ${oneAlert}`, { params: { alertId } }, options)).body;
    },
    async update(alertId: string, patch: AlertPatch, options?: CallOptions): Promise<Alert> {
      const input = { params: { alertId }, body: patch };
      return (await request(`PATCH ${oneAlert}`, input, options)).body;
    },
    async delete(alertId: string, options?: CallOptions): Promise<void> {
      await request(`DELETE ${oneAlert}`, { params: { alertId } }, options);
    },
    /** When it would have fired in the last days. */
    async preview(alertId: string, days: number, options?: CallOptions): Promise<AlertPreview> {
      const input = { params: { alertId }, body: { days } };
      return (await request(`POST ${oneAlert}/preview`, input, options)).body;
    },
    /** The same for an alert that does not exist. */
    async previewNew(preview: AlertPreviewInput, options?: CallOptions): Promise<AlertPreview> {
      return (await request('POST /api/v1/alerts/preview', { body: preview }, options)).body;
    },
  };
}
