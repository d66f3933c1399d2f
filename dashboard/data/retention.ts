import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { PageQuery } from '../../src/client/index.ts';
import { cueline } from './client.ts';
import { useChange } from './use-change.ts';

/** How long records stay, and what was asked to go at once. */

export const retentionQuery = queryOptions({
  queryKey: ['retention'],
  queryFn: async ({ signal }) =>
    (await cueline.request('GET /api/v1/retention', {}, { signal })).body,
});

export interface Retention {
  readonly recordsDays: number | null;
  readonly bodiesDays: number | null;
}

export const useSetRetention = () =>
  useChange(
    async (retention: Retention) =>
      (await cueline.request('PUT /api/v1/retention', { body: { ...retention } })).body,
    ['retention'],
  );

/** Looked at again while one is being worked off. */
export const erasuresQuery = (page: PageQuery) =>
  queryOptions({
    queryKey: ['erasures', page],
    queryFn: ({ signal }) => readErasures(page, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.erasures.some(({ status }) => status === 'processing') ? 2_000 : false,
  });

async function readErasures(page: PageQuery, signal: AbortSignal) {
  return (await cueline.request('GET /api/v1/erasures', { query: page }, { signal })).body;
}

export type Erasure = Awaited<ReturnType<typeof readErasures>>['erasures'][number];

export const useErase = () =>
  useChange(
    async (asked: { variable: string; value: string }) =>
      (await cueline.request('POST /api/v1/erasures', { body: asked })).body,
    ['erasures'],
  );
