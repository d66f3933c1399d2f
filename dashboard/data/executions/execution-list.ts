import { keepPreviousData, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { ExecutionFilters, ExecutionPage } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { type Execution, isInProgress } from './executions.ts';
import { countNews } from './news.ts';

/**
 * A list of executions that stays as it was loaded: new executions are only counted until the user asks for them, so that
 * rows never move. Rows in progress are read again by their ids.
 */

const pageSize = 50;
const newsPollMs = 5_000;
const runningPollMs = 2_000;
/** Limit of the API for one request. */
const idsMax = 100;
/** Who returns to a list within this time finds it as it was. */
const keptMs = 60_000;

export interface ExecutionListRequest {
  /** Undefined for the executions of all agents. */
  readonly agentId: string | undefined;
  /** The filters at the time of loading: a period becomes bounds. */
  readonly filtersAt: (loadedMs: number) => ExecutionFilters;
  /** The identity of the filters. */
  readonly key: string;
  readonly offset: number;
  /** Whether the filters make the server scan records. */
  readonly scans: boolean;
  /** Whether they are not the newest first: then new ones have no place to be announced at. */
  readonly isSorted: boolean;
  readonly withBodies: boolean;
}

export function useExecutionList(request: ExecutionListRequest) {
  const { agentId, filtersAt, offset, withBodies } = request;
  const [loadedMs, reload] = useLoadTime(`${agentId} ${request.key}`);
  const filters = useMemo(() => filtersAt(loadedMs), [request.key, loadedMs]);
  const pages = useInfiniteQuery({
    queryKey: ['execution list', agentId ?? null, filters, offset, withBodies, loadedMs],
    queryFn: ({ pageParam, signal }) => {
      const start = pageParam === null ? { offset } : { cursor: pageParam };
      const omit = withBodies ? {} : ({ omit: 'bodies', preview: true } as const);
      return readPage(agentId, { ...filters, ...omit, ...start, limit: pageSize }, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? null,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
  });
  const loaded = useMemo(
    () => pages.data?.pages.flatMap(({ executions }) => executions),
    [pages.data],
  );
  const isCurrent = !pages.isPlaceholderData;
  const [rows, remove] = useRunningRows(agentId, loaded);
  const news = useNews({ ...request, filters, loaded: isCurrent ? loaded : undefined });
  return { pages, filters, rows, remove, news, reload };
}

function readPage(
  agentId: string | undefined,
  filters: ExecutionFilters,
  signal: AbortSignal,
): Promise<ExecutionPage> {
  return cueline.list(agentId ?? null, filters, { signal });
}

/** What all matches add up to, whatever the page and the order. */
export function totalsQuery(agentId: string | undefined, filters: ExecutionFilters) {
  return queryOptions({
    queryKey: ['executions', 'totals', agentId ?? null, filters],
    queryFn: async ({ signal }) => {
      const query = { ...filters, totals: true, omit: 'bodies', limit: 1 } as const;
      return (await readPage(agentId, query, signal)).totals ?? null;
    },
    placeholderData: keepPreviousData,
    staleTime: keptMs,
  });
}

const loadTimes = new Map<string, number>();

function useLoadTime(key: string): readonly [number, () => void] {
  const [reloads, setReloads] = useState(0);
  const loadedMs = useMemo(() => {
    const before = loadTimes.get(key) ?? 0;
    if (Date.now() - before > keptMs) loadTimes.set(key, Date.now());
    return loadTimes.get(key) ?? 0;
  }, [key, reloads]);
  const reload = () => {
    // Never the same time: it is part of what identifies the list.
    loadTimes.set(key, Math.max(Date.now(), loadedMs + 1));
    setReloads((count) => count + 1);
  };
  return [loadedMs, reload];
}

/** The rows as they are now, without those that the user has deleted. */
function useRunningRows(agentId: string | undefined, loaded: readonly Execution[] | undefined) {
  const [updates, setUpdates] = useState<ReadonlyMap<string, Execution | null>>(new Map());
  const rows = loaded?.flatMap((row) => {
    const update = updates.get(row.executionId);
    if (update === null) return [];
    return update === undefined ? row : { ...row, ...update };
  });
  const running = (rows ?? []).filter(isInProgress).map(({ executionId }) => executionId);
  const ids = running.slice(0, idsMax);
  const { data } = useQuery({
    queryKey: ['executions', 'running', agentId ?? null, ids],
    queryFn: ({ signal }) => {
      const query = { executionId: ids, include: 'processing', omit: 'bodies' } as const;
      return readPage(agentId, { ...query, limit: idsMax }, signal);
    },
    enabled: ids.length > 0,
    refetchInterval: runningPollMs,
  });
  useEffect(() => {
    if (!data || data.executions.length === 0) return;
    const read = data.executions.map((row) => [row.executionId, row] as const);
    setUpdates((before) => new Map([...before, ...read]));
  }, [data]);
  const remove = (executionIds: readonly string[]) =>
    setUpdates((before) => new Map([...before, ...executionIds.map((id) => [id, null] as const)]));
  return [rows, remove] as const;
}

/** How many matching executions the list does not show yet. Only newer ones are read, whatever the filters cost. */
function useNews({
  agentId,
  filters,
  loaded,
  offset,
  scans,
  isSorted,
}: ExecutionListRequest & {
  readonly filters: ExecutionFilters;
  readonly loaded: readonly Execution[] | undefined;
}) {
  const first = loaded?.[0];
  const newest = first?.executedAt;
  const isOver = filters.endDate !== undefined && Date.parse(filters.endDate) < Date.now();
  const since = newest === undefined ? {} : { startDate: newest };
  const query = useQuery({
    queryKey: ['executions', 'news', agentId ?? null, filters, newest ?? null],
    queryFn: ({ signal }) =>
      readPage(agentId, { ...filters, ...since, omit: 'bodies', limit: idsMax }, signal),
    enabled:
      loaded !== undefined &&
      offset === 0 &&
      !(isOver || isSorted) &&
      !(scans && newest === undefined),
    refetchInterval: newsPollMs,
  });
  return { query, ...countNews(query.data, first) };
}
