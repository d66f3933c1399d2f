import type { CreateMethod } from './method.ts';
import type { Declaration, Role } from './records.ts';
import type { CallOptions } from './request.ts';

type RotateOptions = CallOptions & { readonly graceSeconds?: number };

/** Methods of resources whose arguments differ from what their operation takes. */
export function adaptedMethods(method: CreateMethod) {
  return {
    webhooks: {
      /** Sends an event. `signed` contains the headers of Standard Webhooks. */
      send(
        webhookId: string,
        event: Record<string, unknown>,
        signed: Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>,
        options?: CallOptions,
      ) {
        return method('receiveWebhook')(webhookId, event, { ...options, headers: signed });
      },
    },
    endpoints: {
      /** Returns the new secret. Both secrets sign during the grace period. */
      rotate(endpointId: string, { graceSeconds = 0, ...options }: RotateOptions = {}) {
        return method('rotateEndpoint.secret')(endpointId, { graceSeconds }, options);
      },
      /** Sends a `ping`. */
      async test(endpointId: string, options?: CallOptions): Promise<void> {
        await method('testEndpoint')(endpointId, options);
      },
      async resend(endpointId: string, eventId: string, options?: CallOptions): Promise<void> {
        await method('resendDelivery')(endpointId, eventId, options);
      },
    },
    alerts: {
      /** When it would have fired in the last days. */
      preview(alertId: string, days: number, options?: CallOptions) {
        return method('previewAlert')(alertId, { days }, options);
      },
    },
    declaration: {
      /** Applies everything or nothing. A dry run only lists the changes. */
      apply(declared: Declaration, dryRun = false, options?: CallOptions) {
        return method('applyDeclaration')({ declaration: declared, dryRun }, options);
      },
    },
    keys: {
      /** Issues a new key. The old one stays valid for the grace period. */
      rotate(apiKeyId: string, { graceSeconds, ...options }: RotateOptions = {}) {
        return method('rotateKey')(apiKeyId, { graceSeconds }, options);
      },
    },
    providers: {
      /**
       * Tests the connection and the stored credential, with one small call of a model if one is given. Returns a failed
       * test instead of throwing.
       */
      test(name: string, test: { model?: string } = {}, options?: CallOptions) {
        return method('testProvider')(name, test, options);
      },
    },
    prices: {
      delete(model: string, options?: CallOptions) {
        return method('deletePrice')({ model }, options);
      },
    },
    members: {
      update(userId: string, role: Role, options?: CallOptions) {
        return method('updateMember')(userId, { role }, options);
      },
    },
  };
}
