import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { ProviderInput } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';

export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: ({ signal }) => cueline.providers.list({ signal }),
});

/** Those of the server's environment, which every workspace can use. */
export const environmentProvidersQuery = queryOptions({
  queryKey: ['providers', 'environment'],
  queryFn: ({ signal }) => cueline.providers.environment({ signal }),
});

/** The models that a provider lists. A refusal is a result. */
export const providerModelsQuery = (name: string) =>
  queryOptions({
    queryKey: ['providers', 'models', name],
    queryFn: ({ signal }) => cueline.providers.models(name, { signal }),
    staleTime: 300_000,
  });

/** Replaces the whole provider, including its credential. */
export function usePutProvider() {
  const queries = useQueryClient();
  return useSingleFlight({
    meta: { saved: 'Saved' },
    mutationFn: ({ name, provider }: { name: string; provider: ProviderInput }) =>
      cueline.providers.put(name, provider),
    onSuccess: () => queries.invalidateQueries({ queryKey: providersQuery.queryKey }),
  });
}

/** A failed connection is a result; the mutation fails only if the test itself could not run. */
export function useTestProvider() {
  return useSingleFlight({
    mutationFn: ({ name, model }: { name: string; model?: string }) =>
      cueline.providers.test(name, model === undefined ? {} : { model }),
  });
}

/** A refusal of the provider is a result. */
export function useListModels() {
  return useSingleFlight({ mutationFn: (name: string) => cueline.providers.models(name) });
}

export function useDeleteProvider() {
  const queries = useQueryClient();
  return useSingleFlight({
    meta: { saved: 'Provider deleted' },
    mutationFn: (name: string) => cueline.providers.delete(name),
    onSettled: () => queries.invalidateQueries({ queryKey: providersQuery.queryKey }),
  });
}
