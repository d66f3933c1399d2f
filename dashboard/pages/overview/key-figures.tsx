import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Change } from '../../components/analytics/change.tsx';
import { FigureTile, FigureTiles } from '../../components/analytics/figure-tile.tsx';
import { ListFigure } from '../../components/analytics/list-figure.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { previousTotalsQuery, totalsQuery } from '../../data/analytics/analytics.ts';
import type { AnalyticsSearch, Metric } from '../../data/analytics/analytics-search.ts';
import { type Figures, figuresOf } from '../../data/analytics/groups.ts';
import { type ListFilters, linkToGroup } from '../../data/analytics/links.ts';
import { formatApproximate, totalOf } from '../../data/analytics/metrics.ts';
import type { RangeSearch } from '../../data/analytics/range-search.ts';
import { previousOf, type TimeRange } from '../../data/analytics/time-range.ts';
import { runningQuery } from '../../data/executions/executions.ts';
import { formatCostSum, formatCount, formatPercent } from '../../data/text/format.ts';

export function KeyFigures(props: {
  readonly range: TimeRange;
  readonly search: RangeSearch;
  readonly nowMs: number;
}) {
  const { range, search, nowMs } = props;
  const totals = useQuery(totalsQuery(undefined, range, 'none'));
  const previous = useQuery(previousTotalsQuery(undefined, previousOf(range, nowMs), 'none'));
  const figures = totals.data && figuresOf(totals.data.totals ?? [], 'none');
  const before = previous.data && figuresOf(previous.data.totals ?? [], 'none');
  if (totals.isError && !totals.data) {
    return <ErrorState error={totals.error} onRetry={() => void totals.refetch()} />;
  }
  const list = (text: string, label: string, more: ListFilters = {}) => (
    <ListFigure link={linkToGroup(undefined, 'none', null, range, more)} label={label}>
      {text}
    </ListFigure>
  );
  const change = (metric: Metric) =>
    figures &&
    before && (
      <Change
        metric={metric}
        now={totalOf(metric, figures)}
        previous={totalOf(metric, before)}
        vague
      />
    );
  const trend = (text: string, more: AnalyticsSearch) => (
    <Link to="/analytics" search={{ ...search, range: search.range ?? '24h', ...more }}>
      {text}
    </Link>
  );
  return (
    <div>
      <StaleNotice query={totals} />
      <FigureTiles label="Figures">
        <FigureTile
          name="Executions"
          value={figures && list(formatCount(figures.count), 'List these executions')}
          note={change('executions')}
          more={trend('Over time', { metric: 'executions' })}
        />
        <FigureTile
          name="Failed"
          value={
            figures && list(formatCount(figures.failed), 'List the failures', { status: 'failed' })
          }
          note={figures && failureNote(figures)}
          more={trend('By error code', { metric: 'failures' })}
        />
        <FigureTile
          name="Cost"
          value={figures && list(formatCostSum(figures), 'List the executions in this sum')}
          note={change('cost')}
          more={trend('By model', { metric: 'cost' })}
        />
        <LatencyTile percentile="p50" {...{ figures, list }} />
        <LatencyTile
          percentile="p95"
          {...{ figures, list }}
          note={change('latency')}
          more={trend('Over time', { metric: 'latency' })}
        />
        <RunningTile />
      </FigureTiles>
    </div>
  );
}

function failureNote(figures: Figures): string {
  const rate = totalOf('failures', figures);
  return rate === null ? '' : `${formatPercent(rate)} of completed`;
}

function LatencyTile(props: {
  readonly percentile: 'p50' | 'p95';
  readonly figures: Figures | undefined;
  readonly list: (text: string, label: string, more: ListFilters) => React.ReactNode;
  readonly note?: React.ReactNode;
  readonly more?: React.ReactNode;
}) {
  const { percentile, figures, list } = props;
  const ms = figures?.latency?.[percentile];
  const slower = { status: 'success', ...(ms ? { latencyMsMin: ms } : {}) };
  return (
    <FigureTile
      name={`Latency, ${percentile}`}
      value={
        figures &&
        (ms === undefined
          ? '–'
          : list(formatApproximate(ms), 'List those at least as slow', slower))
      }
      note={props.note ?? 'of successful executions'}
      more={props.more}
    />
  );
}

function RunningTile() {
  const running = useQuery(runningQuery);
  const total = running.data;
  return (
    <FigureTile
      name="Running now"
      value={
        running.isError && total === undefined
          ? '–'
          : total !== undefined && (
              <ListFigure
                link={{ agentId: undefined, search: { status: 'processing' } }}
                label="List running executions"
              >
                {formatCount(total)}
              </ListFigure>
            )
      }
      note={
        running.isError && total === undefined ? 'could not be counted' : 'queued or with a model'
      }
    />
  );
}
