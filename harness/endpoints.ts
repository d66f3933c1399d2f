import { Webhook } from 'standardwebhooks';
import { fromId } from '../src/core/id.ts';
import { sql } from '../src/db/sql.ts';
import type { ReceivedRequest, Receiver } from './receiver.ts';
import type { Service } from './service.ts';

/** An endpoint of a test, created through the API. */
export interface TestEndpoint {
  readonly endpointId: string;
  readonly path: string;
  readonly secret: string;
  /** Calls the API below the endpoint; fails unless the call succeeds. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation has its own body
  call(method: string, below?: string, body?: object): Promise<any>;
  /** The delivery log, newest first. */
  deliveries(query?: string): Promise<TestDelivery[]>;
  /** Resolves once the delivery of the event has this state. */
  delivered(eventId: string, state?: TestDelivery['state']): Promise<TestDelivery>;
}

export interface TestDelivery {
  readonly eventId: string;
  readonly type: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly nextAttemptAt: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: each type has other data
  readonly request: { type: string; timestamp: string; data: Record<string, any> };
  readonly attempts: readonly {
    readonly at: string;
    readonly status: number | null;
    readonly answer: string | null;
    readonly error: string | null;
  }[];
}

export async function addEndpoint(
  service: Pick<Service, 'call'>,
  key: string,
  body: { readonly url: string | null; readonly eventTypes?: readonly string[] } & Record<
    string,
    unknown
  >,
): Promise<TestEndpoint> {
  const created = await service.call('POST', '/api/v1/endpoints', {
    key,
    body: { eventTypes: ['ping'], ...body },
  });
  if (created.status !== 201) throw new Error(created.body.message);
  const { endpointId, secret } = created.body;
  const path = `/api/v1/endpoints/${endpointId}`;
  const endpoint: TestEndpoint = {
    ...{ endpointId, path, secret },
    async call(method, below = '', sent) {
      const response = await service.call(method, path + below, {
        key,
        ...(sent && { body: sent }),
      });
      if (response.status >= 300) throw new Error(`${response.status}: ${response.body.message}`);
      return response.body;
    },
    async deliveries(query = '') {
      return (await endpoint.call('GET', `/deliveries${query}`)).deliveries;
    },
    async delivered(eventId, state = 'delivered') {
      for (;;) {
        const all = await endpoint.deliveries('?limit=100');
        const one = all.find((delivery) => delivery.eventId === eventId);
        if (one?.state === state) return one;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
  return endpoint;
}

/** An endpoint of a receiver that answers 500, and an event whose next attempt is a day away. */
export async function missedEvent(
  { call, db }: Pick<Service, 'call' | 'db'>,
  key: string,
  receiver: Receiver,
): Promise<{ readonly endpoint: TestEndpoint; readonly eventId: string }> {
  const endpoint = await addEndpoint({ call }, key, { url: receiver.url });
  await endpoint.call('POST', '/test');
  const [request] = await receiver.received(1);
  const eventId = String(request?.headers['webhook-id']);
  while ((await endpoint.delivered(eventId, 'pending')).attempts.length === 0);
  await sql`
    update deliveries set due_at = clock_timestamp() + interval '1 day'
    where event_id = ${fromId('event', eventId)}`.execute(db);
  return { endpoint, eventId };
}

/** The event of a request; throws unless the secret signed it. */
export function verified(secret: string, { body, headers }: ReceivedRequest) {
  return new Webhook(secret).verify(body, headers) as ReceivedRequest['event'];
}
