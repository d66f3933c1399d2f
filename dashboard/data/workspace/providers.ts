import type { ProviderInput } from '../../../src/client/index.ts';
import { resource } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';

const client = cueline.providers;

export const providers = resource('providers', 'Provider', client);

/** Those of the server's environment, which every workspace can use. */
export const environmentProvidersQuery = providers.query(['environment'], (options) =>
  client.environment(options),
);

/** The models that a provider lists. A refusal is a result. */
export const providerModelsQuery = (name: string) => ({
  ...providers.query(['models', name], (options) => client.models(name, options)),
  staleTime: 300_000,
});

/** Replaces the whole provider, including its credential. */
export const putProvider = providers.action(
  ({ name, ...provider }: ProviderInput & { readonly name: string }) => client.put(name, provider),
);

/** A failed connection is a result; the mutation fails only if the test itself could not run. */
export function useTestProvider() {
  return useSingleFlight({
    mutationFn: ({ name, model }: { name: string; model?: string }) =>
      client.test(name, model === undefined ? {} : { model }),
  });
}

/** A refusal of the provider is a result. */
export function useListModels() {
  return useSingleFlight({ mutationFn: (name: string) => client.models(name) });
}
