import { useQuery } from '@tanstack/react-query';
import { joinValues } from '../../../src/client/index.ts';
import {
  type GroupTotal,
  previousTotalsQuery,
  type Statistics,
  seriesQuery,
  statisticsFilters,
  totalsByGroup,
} from '../../data/analytics/analytics.ts';
import type { AnalyticsSearch, Grouping, Metric } from '../../data/analytics/analytics-search.ts';
import { type Figures, figuresOf } from '../../data/analytics/groups.ts';
import type { ListFilters } from '../../data/analytics/links.ts';
import { usualGrouping, valueOfMetric } from '../../data/analytics/metrics.ts';
import { previousOf, toTimeRange } from '../../data/analytics/time-range.ts';
import { useCurrentMinute } from '../hooks/use-current-minute.ts';

/** Everything that the charts and the table of a range show. Undefined data is loading. */
export function useAnalytics(agentId: string | undefined, search: AnalyticsSearch) {
  const nowMs = useCurrentMinute() * 60_000;
  const metric = search.metric ?? 'executions';
  const grouping = groupingOf(search, metric, agentId);
  const range = toTimeRange(search, nowMs, '7d');
  const previousRange = previousOf(range, nowMs);
  const filters = statisticsFilters(search);
  const byGroup = useQuery(seriesQuery(agentId, range, grouping, filters));
  const all = useQuery(seriesQuery(agentId, range, 'none', filters));
  const previousByGroup = useQuery(previousTotalsQuery(agentId, previousRange, grouping, filters));
  const previousAll = useQuery(previousTotalsQuery(agentId, previousRange, 'none', filters));
  const previousSeries = useQuery(seriesQuery(agentId, previousRange, 'none', filters));
  const queries = [byGroup, all, previousByGroup, previousAll, previousSeries];
  const before = previousByGroup.data && totalsByGroup(previousByGroup.data, grouping);
  return {
    ...{ metric, grouping, range, previousRange },
    listFilters: listFiltersOf(search),
    byGroup: byGroup.data,
    all: all.data,
    previousSeries: previousSeries.data,
    totals: byGroup.data && all.data && sortedTotals(byGroup.data, all.data, metric, grouping),
    allFigures: all.data && figuresOf(all.data.totals ?? [], 'none'),
    allPrevious: previousAll.data && figuresOf(previousAll.data.totals ?? [], 'none'),
    previousOfGroup: (key: string): Figures | undefined =>
      before && (before.get(key)?.figures ?? nothing),
    isStale: queries.some(({ isPlaceholderData }) => isPlaceholderData),
    /** The first query that failed without any data. */
    failed: queries.find(({ isError, data }) => isError && data === undefined),
    outdated: queries.find(({ isError, data }) => isError && data !== undefined),
  };
}

export type AnalyticsData = ReturnType<typeof useAnalytics>;

/** The same filters for the list of executions. */
function listFiltersOf({ agent, model, key, user, tag }: AnalyticsSearch): ListFilters {
  return {
    ...(agent && { agentId: joinValues([agent]) }),
    ...(model && { model: joinValues([model]) }),
    ...(key && { apiKeyId: joinValues([key]) }),
    ...(user && { user: joinValues([user]) }),
    ...(tag && { tag }),
  };
}

function groupingOf(
  { by, user, tag }: AnalyticsSearch,
  metric: Metric,
  agentId: string | undefined,
): Grouping {
  const chosen = by ?? usualGrouping[metric];
  const isOfLabel = chosen === 'user' || chosen === 'tag';
  if (isOfLabel && (user || tag)) return 'none';
  return chosen === 'agent' && agentId !== undefined ? 'none' : chosen;
}

function sortedTotals(
  byGroup: Statistics,
  all: Statistics,
  metric: Metric,
  grouping: Grouping,
): GroupTotal[] {
  const together = figuresOf(all.totals ?? [], 'none');
  const value = ({ figures }: GroupTotal) =>
    valueOfMetric(metric, figures, together, grouping) ?? -1;
  const counts = ({ figures }: GroupTotal) => metric !== 'failures' || figures.failed > 0;
  return [...totalsByGroup(byGroup, grouping).values()]
    .filter(counts)
    .sort(
      (a, b) =>
        Number(a.group.other) - Number(b.group.other) ||
        value(b) - value(a) ||
        b.figures.count - a.figures.count,
    );
}

const nothing: Figures = {
  ...{ count: 0, recorded: 0, succeeded: 0, failed: 0, inputTokens: 0, outputTokens: 0 },
  ...{ costUSD: 0, costUnknown: 0, latency: null },
};
