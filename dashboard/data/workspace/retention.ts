import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ErasureInput, PageQuery, Retention } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useChange } from '../client/use-invalidating-mutation.ts';

/** How long records stay, and what was asked to go at once. */

export const retentionQuery = queryOptions({
  queryKey: ['retention'],
  queryFn: ({ signal }) => cueline.retention({ signal }),
});

export const useSetRetention = () =>
  useChange((retention: Retention) => cueline.setRetention(retention), ['retention']);

/** Looked at again while one is being worked off. */
export const erasuresQuery = (page: PageQuery) =>
  queryOptions({
    queryKey: ['erasures', page],
    queryFn: ({ signal }) => cueline.erasures.list(page, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.erasures.some(({ status }) => status === 'processing') ? 2_000 : false,
  });

export const useErase = () =>
  useChange((asked: ErasureInput) => cueline.erasures.create(asked), ['erasures']);
