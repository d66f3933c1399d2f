import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ErasureInput, PageQuery, Retention } from '../../../src/client/index.ts';
import { type Action, resource } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

export const retentionQuery = queryOptions({
  queryKey: ['retention'],
  queryFn: ({ signal }) => cueline.retention({ signal }),
});

export const setRetention: Action<Retention, Retention> = {
  run: (retention) => cueline.setRetention(retention),
  ...{ saved: 'Saved', stale: [retentionQuery.queryKey] },
};

export const erasures = resource('erasures', 'Erasure', cueline.erasures);

/** What an erasure would delete. Read again by each dialog. */
export const erasurePreviewQuery = (input: ErasureInput) =>
  queryOptions({
    ...erasures.query(['preview', input], (options) => cueline.erasures.preview(input, options)),
    staleTime: 0,
    gcTime: 0,
  });

/** Polls while an erasure is in progress. */
export const erasuresQuery = (page: PageQuery) =>
  queryOptions({
    ...erasures.list(page),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.erasures.some(({ status }) => status === 'processing') ? 2_000 : false,
  });
