import { queryOptions } from '@tanstack/react-query';
import type { PriceInput } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useInvalidatingMutation } from '../client/use-invalidating-mutation.ts';

export const pricesQuery = queryOptions({
  queryKey: ['prices'],
  queryFn: ({ signal }) => cueline.prices.list({ signal }),
});

/** Whether a price is what an unknown cost lacks: the usage is known, and built-in models are free. */
export function lacksPrice(used: {
  readonly model?: string | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}): boolean {
  const { model = '', inputTokens = 0, outputTokens = 0 } = used;
  return inputTokens + outputTokens > 0 && !model.startsWith('cueline/');
}

export const usePutPrice = () =>
  useInvalidatingMutation((price: PriceInput) => cueline.prices.put(price), ['prices']);

export const useDeletePrice = () =>
  useInvalidatingMutation(
    (model: string) => cueline.prices.delete(model),
    ['prices'],
    'Price deleted',
  );
