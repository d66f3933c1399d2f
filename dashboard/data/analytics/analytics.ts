import { queryOptions } from '@tanstack/react-query';
import { CuelineError } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import type { AnalyticsSearch, Grouping } from './analytics-search.ts';
import {
  type Answer,
  type Bucket,
  type Figures,
  figuresOf,
  type Group,
  groupByOf,
  groupOf,
} from './groups.ts';
import {
  type ChartLevel,
  levels,
  nextStart,
  type PreviousRange,
  type TimeRange,
} from './time-range.ts';

/** Statistics of a workspace or of one agent, by interval and group. */

const refreshMs = 30_000;

interface Request extends StatisticsFilters {
  readonly level: ChartLevel | 'all';
  readonly groupBy: string;
  readonly timeZone: string;
  readonly startDate: string;
  readonly endDate?: string;
  readonly totals?: true;
}

/** What the executions have in common. */
export interface StatisticsFilters {
  readonly agentIds?: string;
  readonly model?: string;
  readonly apiKeyId?: string;
  readonly user?: string;
  readonly tag?: string;
}

export function statisticsFilters({
  agent,
  model,
  key,
  user,
  tag,
}: AnalyticsSearch): StatisticsFilters {
  return {
    ...(agent && { agentIds: agent }),
    ...(model && { model }),
    ...(key && { apiKeyId: key }),
    ...(user && { user }),
    ...(tag && { tag }),
  };
}

/** The level of the response may be coarser than asked for: `isCoarser` says so. */
export type Statistics = Answer & { readonly isCoarser: boolean };

const statisticsQuery = (agentId: string | undefined, request: Request) =>
  queryOptions({
    queryKey: ['statistics', agentId ?? null, request],
    queryFn: ({ signal }) => readWithinLimits(agentId, request, signal),
    refetchInterval: refreshMs,
    // Keep the earlier response while the next one loads, but not one with other groups.
    placeholderData: (before: Statistics | undefined, query) =>
      isSameSubject(query?.queryKey, agentId, request) ? before : undefined,
  });

function isSameSubject(
  key: readonly unknown[] | undefined,
  agentId: string | undefined,
  { groupBy, level }: Request,
): boolean {
  const before = key?.[2] as Request | undefined;
  const isTotal = (one: Request['level'] | undefined) => one === 'all';
  return (
    key?.[1] === (agentId ?? null) &&
    before?.groupBy === groupBy &&
    isTotal(before.level) === isTotal(level)
  );
}

/** Reads longer intervals if the requested ones would add up too much at once. */
async function readWithinLimits(
  agentId: string | undefined,
  request: Request,
  signal: AbortSignal,
): Promise<Statistics> {
  const { level } = request;
  const coarser = level === 'all' ? [] : levels.slice(Math.max(3, levels.indexOf(level) + 1));
  for (const next of [level, ...coarser]) {
    try {
      const answer = await read(agentId, { ...request, level: next }, signal);
      return { ...answer, isCoarser: next !== level };
    } catch (error) {
      const isLast = next === (coarser.at(-1) ?? level);
      if (isLast || !isTooLarge(error)) throw error;
    }
  }
  throw new Error('No level was read.');
}

function read(agentId: string | undefined, request: Request, signal: AbortSignal): Promise<Answer> {
  if (agentId === undefined) return cueline.statistics(request, { signal });
  const groupBy = request.groupBy.replace(/^agent,/, '');
  const { agentIds: _, ...own } = request;
  return cueline.agents.statistics(agentId, { ...own, groupBy }, { signal });
}

/** Whether the response would add up more than one response may. */
export function isTooLarge(error: unknown): boolean {
  return (
    error instanceof CuelineError &&
    error.status === 400 &&
    error.message.startsWith('The response')
  );
}

/** Every interval of a range by group, with totals. */
export function seriesQuery(
  agentId: string | undefined,
  range: TimeRange,
  grouping: Grouping,
  filters: StatisticsFilters = {},
) {
  return statisticsQuery(agentId, {
    ...filters,
    ...{ level: range.level, groupBy: groupByOf(grouping), timeZone: range.timeZone, totals: true },
    startDate: iso(range.startMs),
    ...(range.endMs !== null && { endDate: iso(range.endMs) }),
  });
}

/** The totals of a range by group, without intervals. */
export function totalsQuery(
  agentId: string | undefined,
  range: TimeRange,
  grouping: Grouping,
  filters: StatisticsFilters = {},
) {
  return statisticsQuery(agentId, {
    ...filters,
    ...{ level: 'all', groupBy: groupByOf(grouping), timeZone: range.timeZone, totals: true },
    startDate: iso(range.startMs),
    ...(range.endMs !== null && { endDate: iso(endOfQuarter(range.endMs)) }),
  });
}

/** The totals of the previous range by group, up to the same moment. */
export function previousTotalsQuery(
  agentId: string | undefined,
  previous: PreviousRange,
  grouping: Grouping,
  filters: StatisticsFilters = {},
) {
  return totalsQuery(agentId, { ...previous, endMs: previous.untilMs }, grouping, filters);
}

/** Stable for a quarter of an hour, to be part of a query key. */
function endOfQuarter(ms: number): number {
  const quarterMs = 900_000;
  return (Math.floor(ms / quarterMs) + 1) * quarterMs - 1;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

export interface GroupTotal {
  readonly group: Group;
  readonly figures: Figures;
}

export function totalsByGroup(
  { totals = [] }: Answer,
  grouping: Grouping,
): ReadonlyMap<string, GroupTotal> {
  const byKey = Map.groupBy(totals, (bucket) => groupOf(bucket, grouping).key);
  return new Map(
    [...byKey].map(([key, buckets]) => {
      const group = groupOf(buckets[0] as Bucket, grouping);
      return [key, { group, figures: figuresOf(buckets, grouping) }];
    }),
  );
}

export interface Interval {
  readonly startMs: number;
  readonly endMs: number;
  readonly buckets: readonly Bucket[];
}

/** Every interval of the response, including empty ones. */
export function intervalsOf({ level, startDate, endDate, buckets }: Answer): Interval[] {
  const byStart = Map.groupBy(buckets, ({ start }) => Date.parse(start));
  const last = Date.parse(endDate);
  // A clock change in the middle of an hour splits it, so the starts of the response are added.
  const starts = new Set(byStart.keys());
  for (let at = Date.parse(startDate); at <= last; at = nextStart(level as ChartLevel, at)) {
    starts.add(at);
  }
  const sorted = [...starts].sort((a, b) => a - b);
  return sorted.map((startMs, index) => ({
    ...{ startMs, endMs: (sorted[index + 1] ?? last + 1) - 1 },
    buckets: byStart.get(startMs) ?? [],
  }));
}
