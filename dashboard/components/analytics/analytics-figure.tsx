import { Skeleton } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Suspense } from 'react';
import {
  type ChartModel,
  chartModel,
  otherKey,
  type Point,
  type Series,
} from '../../data/analytics/chart-model.ts';
import { linkToGroup } from '../../data/analytics/links.ts';
import { metricLabels } from '../../data/analytics/metrics.ts';
import type { ChartLevel } from '../../data/analytics/time-range.ts';
import { lazyComponent } from '../loading/lazy-component.tsx';
import classes from './analytics.module.css';
import { useGroupLabel } from './group-labels.ts';
import { MarkerList } from './marker-list.tsx';
import type { Markers } from './markers.ts';
import { Swatch } from './swatch.tsx';
import type { AnalyticsData } from './use-analytics.ts';

const Chart = lazyComponent(() => import('./chart.tsx'));

export interface FigureProps {
  readonly agentId: string | undefined;
  readonly data: AnalyticsData;
  readonly markers: Markers | null;
}

/** Undefined while its data is loading. */
export function modelOf(data: AnalyticsData, labelOf: ReturnType<typeof useGroupLabel>) {
  const { metric, grouping, byGroup, all, totals, previousSeries } = data;
  if (!byGroup || !all || !totals) return undefined;
  return chartModel({
    ...{ metric, grouping, byGroup, all, previous: previousSeries, totals },
    labelOf: ({ group }) => labelOf(group),
  });
}

/** The chart with its legend. */
export default function AnalyticsFigure({ agentId, data, markers }: FigureProps) {
  const { metric, grouping, byGroup } = data;
  const labelOf = useGroupLabel(grouping, agentId);
  const select = useSelect(agentId, data);
  const model = modelOf(data, labelOf);
  if (!model || !byGroup) return <Skeleton height={300} />;
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
