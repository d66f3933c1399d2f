import { Button, Skeleton } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Suspense } from 'react';
import { isTooLarge } from '../../data/analytics/analytics.ts';
import { type AnalyticsSearch, groupings } from '../../data/analytics/analytics-search.ts';
import {
  type ChartModel,
  chartModel,
  otherKey,
  type Point,
  type Series,
} from '../../data/analytics/chart-model.ts';
import { groupingLabels } from '../../data/analytics/groups.ts';
import { linkToGroup } from '../../data/analytics/links.ts';
import { metricLabels } from '../../data/analytics/metrics.ts';
import type { ChartLevel } from '../../data/analytics/time-range.ts';
import { formatSpan } from '../../data/text/format.ts';
import { useFilters } from '../hooks/use-filters.ts';
import { lazyComponent } from '../loading/lazy-component.tsx';
import { EmptyState } from '../states/empty-state.tsx';
import { ErrorState } from '../states/error-state.tsx';
import { StaleNotice } from '../states/stale-notice.tsx';
import classes from './analytics.module.css';
import { AnalyticsFilters } from './analytics-filters.tsx';
import { ChoiceBar } from './choice-bar.tsx';
import { useGroupLabel } from './group-labels.ts';
import { GroupTable } from './group-table.tsx';
import { MarkerList } from './marker-list.tsx';
import { type Markers, useMarkers } from './markers.ts';
import { MetricTabs } from './metric-tabs.tsx';
import { RangePicker } from './range-picker.tsx';
import { Swatch } from './swatch.tsx';
import { type AnalyticsData, useAnalytics } from './use-analytics.ts';

const Chart = lazyComponent(() => import('./chart.tsx'));

/** Executions, failures, latency, tokens and cost of a workspace or an agent over time, by group. */
export function Analytics({ agentId }: { readonly agentId?: string }) {
  const [search, change] = useFilters<AnalyticsSearch & { readonly offset?: undefined }>();
  const data = useAnalytics(agentId, search);
  const { range, previousRange, metric, grouping, allFigures, allPrevious } = data;
  const markers = useMarkers(agentId, range);
  const before = formatSpan(previousRange.startMs, previousRange.endMs);
  return (
    <>
      <div className={classes.bar}>
        <RangePicker
          search={search}
          presets={['6h', '24h', 'yesterday', '7d', '30d', '90d']}
          fallback="7d"
          range={range}
          onChange={change}
        />
        <span className="small-note">compared with {before}</span>
        <AnalyticsFilters agentId={agentId} search={search} onChange={change} />
      </div>
      <section className={classes.card} aria-label="Analytics">
        <MetricTabs
          value={metric}
          onChange={(next) => change({ metric: next, by: undefined })}
          totals={allFigures}
          previous={allPrevious}
        />
        <div className={classes.groups}>
          <span className="small-note">Group by</span>
          <ChoiceBar
            label="Group by"
            choices={groupings
              .filter((one) => one !== 'agent' || agentId === undefined)
              .map((value) => ({ value, label: groupingLabels[value] }))}
            value={grouping}
            onChange={(by) => change({ by })}
          />
        </div>
        {data.outdated && <StaleNotice query={data.outdated} />}
        {data.failed ? (
          <Failed
            query={data.failed}
            onShorten={() => change({ range: '24h', from: undefined, to: undefined })}
          />
        ) : allFigures?.count === 0 ? (
          <NoExecutions
            agentId={agentId}
            onWiden={
              search.range === '90d'
                ? undefined
                : () => change({ range: '90d', from: undefined, to: undefined })
            }
          />
        ) : (
          <Body agentId={agentId} data={data} markers={markers} />
        )}
      </section>
    </>
  );
}

interface FigureProps {
  readonly agentId: string | undefined;
  readonly data: AnalyticsData;
  readonly markers: Markers | null;
}

function Body(props: FigureProps) {
  const { agentId, data } = props;
  const labelOf = useGroupLabel(data.grouping, agentId);
  const model = modelOf(data, labelOf);
  if (!model) return <Skeleton height={320} m="md" w="auto" />;
  return (
    <div className={classes.body} data-stale={data.isStale || undefined}>
      <AnalyticsFigure {...props} />
      <GroupTable {...{ agentId, data, model, labelOf }} />
    </div>
  );
}

/** Undefined while its data is loading. */
function modelOf(data: AnalyticsData, labelOf: ReturnType<typeof useGroupLabel>) {
  const { metric, grouping, byGroup, all, totals, previousSeries } = data;
  if (!byGroup || !all || !totals) return undefined;
  return chartModel({
    ...{ metric, grouping, byGroup, all, previous: previousSeries, totals },
    labelOf: ({ group }) => labelOf(group),
  });
}

/** The chart with its legend. */
export function AnalyticsFigure({ agentId, data, markers }: FigureProps) {
  const { metric, grouping, byGroup } = data;
  const labelOf = useGroupLabel(grouping, agentId);
  const select = useSelect(agentId, data);
  const model = modelOf(data, labelOf);
  if (!model || !byGroup) return <Skeleton height={320} m="md" w="auto" />;
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.legend}>
        <strong>
          {metricLabels[metric]}
          {metric === 'latency' && grouping !== 'none' && ', p95'}{' '}
          {intervalTexts[byGroup.level as ChartLevel]}
        </strong>
        <Legend model={model} />
      </figcaption>
      {byGroup.isCoarser && (
        <p className="small-note" role="status">
          Shorter intervals would add up too much at once, so the chart shows longer ones.
        </p>
      )}
      <Suspense fallback={<Skeleton height={280} />}>
        <Chart
          model={model}
          metric={metric}
          level={byGroup.level as ChartLevel}
          markers={markers?.shown ?? []}
          onSelect={select}
        />
      </Suspense>
      {markers && <MarkerList markers={markers} />}
    </figure>
  );
}

const intervalTexts: Record<ChartLevel, string> = {
  quarterHour: 'every 15 minutes',
  hour: 'by hour',
  sixHours: 'every 6 hours',
  day: 'by day',
  week: 'by week',
};

/** A click on a bar opens the executions behind it. */
function useSelect(agentId: string | undefined, { metric, grouping, listFilters }: AnalyticsData) {
  const navigate = useNavigate();
  return ({ startMs, endMs }: Point, series: Series | null) => {
    const more = { ...listFilters, ...(metric === 'failures' && { status: 'failed' }) };
    const group = series?.key === otherKey ? null : (series?.total?.group ?? null);
    const span = { startMs, endMs };
    const link =
      linkToGroup(agentId, grouping, group, span, more) ??
      linkToGroup(agentId, 'none', null, span, more);
    if (link === null) return;
    const to = link.agentId === undefined ? '/history' : '/agents/$agentId/history';
    void navigate({
      to,
      params: { agentId: link.agentId ?? '' },
      search: link.search as never,
    });
  };
}

function Legend({ model }: { readonly model: ChartModel }) {
  return (
    <>
      {model.series.map(({ key, label, color }) => (
        <span key={key}>
          <Swatch color={color} />
          <bdi>{label}</bdi>
        </span>
      ))}
      <span>
        <svg width="16" height="10" aria-hidden="true">
          <path d="M0 5h16" stroke="var(--soft)" strokeWidth="1.5" strokeDasharray="3 3" />
        </svg>
        Previous period
      </span>
    </>
  );
}

function Failed(props: {
  readonly query: NonNullable<AnalyticsData['failed']>;
  readonly onShorten: () => void;
}) {
  const { query, onShorten } = props;
  if (!isTooLarge(query.error)) {
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  }
  return (
    <EmptyState
      icon="warning"
      title="Too much to add up at once"
      action={
        <Button variant="default" onClick={onShorten}>
          Show the last 24 hours
        </Button>
      }
    >
      Choose a shorter range, group by something else, or open the analytics of one agent.
    </EmptyState>
  );
}

function NoExecutions(props: {
  readonly agentId: string | undefined;
  readonly onWiden: (() => void) | undefined;
}) {
  return (
    <EmptyState
      icon="history"
      title="No executions in this period"
      action={
        props.onWiden && (
          <Button variant="default" onClick={props.onWiden}>
            Show the last 90 days
          </Button>
        )
      }
    >
      {props.agentId === undefined
        ? 'Run an agent, or call one with an API key: its executions, failures, latency, tokens and cost appear here.'
        : 'Run this agent, or call it with an API key: its executions, failures, latency, tokens and cost appear here.'}
    </EmptyState>
  );
}
