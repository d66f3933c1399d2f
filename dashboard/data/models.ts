import { queryOptions, useQuery } from '@tanstack/react-query';
import { cueline } from './client.ts';
import { providersQuery } from './providers.ts';

/** How a model is called; null leaves it to what stands behind: the version, or the model's own default. */
export interface ModelSettings {
  readonly model: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly topP: number | null;
}

export const noModelSettings: ModelSettings = {
  model: null,
  temperature: null,
  maxTokens: null,
  topP: null,
};

const pricesQuery = queryOptions({
  queryKey: ['prices'],
  queryFn: ({ signal }) => cueline.prices.list({ signal }),
});

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
