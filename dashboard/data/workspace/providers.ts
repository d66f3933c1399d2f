import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { ProviderInput } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';

export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: ({ signal }) => cueline.providers.list({ signal }),
});

/** Replaces the whole provider, including its credential. */
export function usePutProvider() {
  const queries = useQueryClient();
  return useSingleFlight({
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

export function useDeleteProvider() {
  const queries = useQueryClient();
  return useSingleFlight({
    mutationFn: (name: string) => cueline.providers.delete(name),
    onSettled: () => queries.invalidateQueries({ queryKey: providersQuery.queryKey }),
  });
}
