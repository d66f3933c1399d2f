import type { Connection } from './method.ts';
import type { CallOptions } from './request.ts';

/** Endpoints that receive events, what was sent to them, and alerts. */

export function events({ method, plain }: Connection) {
  return {
    endpoints: {
      create: plain('createEndpoint'),
      list: plain('listEndpoints.endpoints'),
      get: plain('getEndpoint'),
      update: plain('updateEndpoint'),
      delete: plain('deleteEndpoint'),
      /** Returns the new secret. Both secrets sign during the grace period. */
      rotate(
        endpointId: string,
        { graceSeconds = 0, ...options }: CallOptions & { readonly graceSeconds?: number } = {},
      ) {
        return method('rotateEndpoint.secret')(endpointId, { graceSeconds }, options);
      },
      /** Sends a `ping`. */
      async test(endpointId: string, options?: CallOptions): Promise<void> {
        await method('testEndpoint')(endpointId, options);
      },
      /** Newest first. */
      deliveries: plain('listDeliveries'),
      async resend(endpointId: string, eventId: string, options?: CallOptions): Promise<void> {
        await method('resendDelivery')(endpointId, eventId, options);
      },
      /** Returns how many deliveries are sent again. */
      replay: plain('replayDeliveries.replayed'),
    },
    alerts: {
      create: plain('createAlert'),
      list: plain('listAlerts.alerts'),
      get: plain('getAlert'),
      update: plain('updateAlert'),
      delete: plain('deleteAlert'),
      /** When it would have fired in the last days. */
      preview(alertId: string, days: number, options?: CallOptions) {
        return method('previewAlert')(alertId, { days }, options);
      },
      /** The same for an alert that does not exist. */
      previewNew: plain('previewNewAlert'),
    },
  };
}
