import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { DeliveryFilters, DeliveryReplay } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { endpoints } from './endpoints.ts';

/** What only the pages of endpoints and alerts do: the first page loads `endpoints.ts`. */
const client = cueline.endpoints;

/** Refetched while something is pending. */
export const deliveriesQuery = (endpointId: string, filters: DeliveryFilters) =>
  queryOptions({
    ...endpoints.query([endpointId, 'deliveries', filters], (options) =>
      client.deliveries(endpointId, filters, options),
    ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.deliveries.some(({ state: one }) => one === 'pending') ? 2_000 : false,
  });

/** Returns the new secret. */
export const rotate = (endpointId: string) =>
  endpoints.action(
    (graceSeconds: number) => client.rotate(endpointId, { graceSeconds }),
    'Secret rotated',
  );

export const ping = (endpointId: string) =>
  endpoints.action<void, void>(() => client.test(endpointId), 'Ping sent');

export const resend = (endpointId: string, eventId: string) =>
  endpoints.action<void, void>(() => client.resend(endpointId, eventId), 'Sent again');

/** Returns how many deliveries are sent again. */
export const replay = (endpointId: string) =>
  endpoints.action((days: DeliveryReplay) => client.replay(endpointId, days), 'Replay started');
