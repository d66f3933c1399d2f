import { useQuery } from '@tanstack/react-query';
import { pricesQuery } from '../workspace/prices.ts';
import { providersQuery } from '../workspace/providers.ts';

/**
 * Suggestions for a model input. The server has no list of models, so these are the models with custom prices and the
 * provider prefixes.
 */
export function useKnownModels(): readonly string[] {
  const prices = useQuery(pricesQuery).data ?? [];
  const providers = useQuery(providersQuery).data ?? [];
  const known = new Set(['cueline/echo', ...prices.map(({ model }) => model)]);
  return [...known, ...providers.map(({ name }) => `${name}/`)];
}
