import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ErasureInput, PageQuery, Retention } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useInvalidatingMutation } from '../client/use-invalidating-mutation.ts';

/** Retention settings and erasure requests. */

export const retentionQuery = queryOptions({
  queryKey: ['retention'],
  queryFn: ({ signal }) => cueline.retention({ signal }),
});

export const useSetRetention = () =>
  useInvalidatingMutation((retention: Retention) => cueline.setRetention(retention), ['retention']);

/** Polls while an erasure is in progress. */
export const erasuresQuery = (page: PageQuery) =>
  queryOptions({
    queryKey: ['erasures', page],
    queryFn: ({ signal }) => cueline.erasures.list(page, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.erasures.some(({ status }) => status === 'processing') ? 2_000 : false,
  });

export const useErase = () =>
  useInvalidatingMutation(
    (erasure: ErasureInput) => cueline.erasures.create(erasure),
    ['erasures'],
    'Erasure requested',
  );
