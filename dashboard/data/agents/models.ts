import { useQuery } from '@tanstack/react-query';
import { pricesQuery } from '../workspace/prices.ts';
import { providersQuery } from '../workspace/providers.ts';

/**
 * Models that can be offered where one is asked for. The server keeps no list of them: those with a price of their own
 * are known by name, of the others only whose they are.
 */
export function useKnownModels(): readonly string[] {
  const prices = useQuery(pricesQuery).data ?? [];
  const providers = useQuery(providersQuery).data ?? [];
  const known = new Set(['cueline/echo', ...prices.map(({ model }) => model)]);
  return [...known, ...providers.map(({ name }) => `${name}/`)];
}
