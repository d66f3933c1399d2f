import { useQueries, useQuery } from '@tanstack/react-query';
import { can, useMe } from '../workspace/me.ts';
import { prices } from '../workspace/prices.ts';
import {
  environmentProvidersQuery,
  providerModelsQuery,
  providers,
} from '../workspace/providers.ts';

/** Providers that are known without a credential: one on the server's machine may answer. */
const local = ['ollama'];

/**
 * Suggestions for a model input: what the providers list, models with custom prices, and the prefix of each provider that
 * lists none. Providers are asked only from `asks` on, because each is a request to another server.
 */
export function useKnownModels(asks: boolean): readonly string[] {
  const mayAsk = can(useMe(), 'edit');
  const priced = useQuery(prices.list()).data ?? [];
  const stored = useQuery(providers.list()).data ?? [];
  const environment = useQuery(environmentProvidersQuery).data ?? [];
  const configured = new Set([...stored, ...environment].map(({ name }) => name));
  const names = [...new Set([...configured, ...local])];
  const lists = useQueries({
    queries: names.map((name) => ({ ...providerModelsQuery(name), enabled: asks && mayAsk })),
  });
  const listed = names.flatMap((name, index) => {
    const models = lists[index]?.data?.models ?? [];
    return models.length === 0 && configured.has(name) ? [`${name}/`] : models;
  });
  return [...new Set(['cueline/echo', ...priced.map(({ model }) => model), ...listed])];
}
