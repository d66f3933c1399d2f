import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type {
  DeliveryFilters,
  DeliveryReplay,
  EventEndpointInput,
  EventEndpointPatch,
} from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useInvalidatingMutation } from '../client/use-invalidating-mutation.ts';

export const endpointsQuery = queryOptions({
  queryKey: ['endpoints', 'list'],
  queryFn: ({ signal }) => cueline.endpoints.list({ signal }),
  staleTime: 30_000,
});

export const endpointQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['endpoints', endpointId, 'read'],
    queryFn: ({ signal }) => cueline.endpoints.get(endpointId, { signal }),
  });

/** Refetched while something is pending. */
export const deliveriesQuery = (endpointId: string, filters: DeliveryFilters) =>
  queryOptions({
    queryKey: ['endpoints', endpointId, 'deliveries', filters],
    queryFn: ({ signal }) => cueline.endpoints.deliveries(endpointId, filters, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.deliveries.some(({ state: one }) => one === 'pending') ? 2_000 : false,
  });

const key = ['endpoints'];

/** The result has the secret, which is shown once. */
export const useCreateEndpoint = () =>
  useInvalidatingMutation(
    (endpoint: EventEndpointInput) => cueline.endpoints.create(endpoint),
    key,
    'Endpoint created',
  );

export const useChangeEndpoint = (endpointId: string) =>
  useInvalidatingMutation(
    (patch: EventEndpointPatch) => cueline.endpoints.update(endpointId, patch),
    key,
  );

export const useDeleteEndpoint = () =>
  useInvalidatingMutation(
    (endpointId: string) => cueline.endpoints.delete(endpointId),
    key,
    'Endpoint deleted',
  );

/** Returns the new secret. */
export const useRotateEndpoint = (endpointId: string) =>
  useInvalidatingMutation(
    (graceSeconds: number) => cueline.endpoints.rotate(endpointId, { graceSeconds }),
    key,
    'Secret rotated',
  );

export const useTestEndpoint = (endpointId: string) =>
  useInvalidatingMutation<void, void>(() => cueline.endpoints.test(endpointId), key, 'Ping sent');

export const useResend = (endpointId: string) =>
  useInvalidatingMutation(
    (eventId: string) => cueline.endpoints.resend(endpointId, eventId),
    key,
    'Sent again',
  );

/** Returns how many deliveries are sent again. */
export const useReplay = (endpointId: string) =>
  useInvalidatingMutation(
    (replay: DeliveryReplay) => cueline.endpoints.replay(endpointId, replay),
    key,
    'Replay started',
  );
