import { queryOptions } from '@tanstack/react-query';
import type { PriceInput } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useInvalidatingMutation } from '../client/use-invalidating-mutation.ts';

export const pricesQuery = queryOptions({
  queryKey: ['prices'],
  queryFn: ({ signal }) => cueline.prices.list({ signal }),
});

export const usePutPrice = () =>
  useInvalidatingMutation((price: PriceInput) => cueline.prices.put(price), ['prices']);

export const useDeletePrice = () =>
  useInvalidatingMutation(
    (model: string) => cueline.prices.delete(model),
    ['prices'],
    'Price removed',
  );
