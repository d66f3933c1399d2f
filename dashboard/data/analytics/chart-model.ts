import { type GroupTotal, intervalsOf, type Statistics } from './analytics.ts';
import type { Grouping, Metric } from './analytics-search.ts';
import { type Bucket, type Figures, figuresOf, groupOf } from './groups.ts';
import { isStacked, totalOf, valueOfMetric } from './metrics.ts';

/** What a chart draws: a few series, and one point per interval. */

export interface Series {
  readonly key: string;
  /** The group that it shows; null for the rest, for percentiles, and for all executions. */
  readonly total: GroupTotal | null;
  readonly label: string;
  readonly color: string;
}

export interface Point {
  readonly startMs: number;
  readonly endMs: number;
  readonly values: Readonly<Record<string, number | null>>;
  /** Over all groups. */
  readonly all: number | null;
  /** The same interval of the previous period. */
  readonly previous: number | null;
}

export interface ChartModel {
  readonly series: readonly Series[];
  readonly points: readonly Point[];
  readonly stacked: boolean;
}

export const otherKey = 'other';
const colors = [1, 2, 3, 4, 5, 6].map((n) => `var(--chart-${n})`);
const otherColor = 'var(--chart-other)';

const statusColors: Readonly<Record<string, string>> = {
  success: 'var(--chart-success)',
  failed: 'var(--chart-failed)',
  rate_limited: 'var(--chart-limited)',
  canceled: 'var(--chart-canceled)',
  unauthorized: 'var(--chart-unauthorized)',
};

const percentiles = [
  { key: 'p50', color: 'var(--chart-median)' },
  { key: 'p95', color: 'var(--chart-p95)' },
  { key: 'p99', color: 'var(--chart-p99)' },
] as const;

export interface ModelRequest {
  readonly metric: Metric;
  readonly grouping: Grouping;
  /** By group, and all together. */
  readonly byGroup: Statistics;
  readonly all: Statistics;
  /** The previous period, by interval; undefined while it loads. */
  readonly previous: Statistics | undefined;
  /** Sorted, the most important first. */
  readonly totals: readonly GroupTotal[];
  readonly labelOf: (total: GroupTotal) => string;
}

export function chartModel(request: ModelRequest): ChartModel {
  const { metric, grouping, byGroup, all, previous } = request;
  const series = seriesOf(request);
  const shown = new Set(series.map(({ key }) => key));
  const before = previous && intervalsOf(previous);
  const allIntervals = new Map(intervalsOf(all).map((one) => [one.startMs, one.buckets]));
  const points = intervalsOf(byGroup).map(({ startMs, endMs, buckets }, index): Point => {
    const together = figuresOf(allIntervals.get(startMs) ?? [], 'none');
    const one = before?.[index];
    return {
      ...{ startMs, endMs },
      values: valuesOf(request, buckets, together, shown),
      all: totalOf(metric, together),
      previous: one ? totalOf(metric, figuresOf(one.buckets, 'none')) : null,
    };
  });
  return { series, points, stacked: isStacked(metric, grouping) };
}

/** At most six groups have a series of their own. */
function seriesOf({ metric, grouping, totals, labelOf }: ModelRequest): Series[] {
  if (metric === 'latency' && grouping === 'none') {
    return percentiles.map((one) => ({ ...one, label: one.key, total: null }));
  }
  const isDrawn = ({ figures }: GroupTotal) =>
    metric === 'latency' ? figures.latency !== null : (totalOf(metric, figures) ?? 0) > 0;
  const drawn = totals.filter(isDrawn);
  const named = drawn.filter(({ group }) => !group.other).slice(0, colors.length);
  const series = named.map((total, index): Series => {
    const { key, value } = total.group;
    const color = grouping === 'status' ? statusColors[value ?? ''] : colors[index];
    return { key, total, label: labelOf(total), color: color ?? otherColor };
  });
  if (named.length === drawn.length || !isStacked(metric, grouping)) return series;
  const label = `Other (${drawn.length - named.length})`;
  return [...series, { key: otherKey, total: null, label, color: otherColor }];
}

function valuesOf(
  { metric, grouping }: ModelRequest,
  buckets: readonly Bucket[],
  all: Figures,
  shown: ReadonlySet<string>,
): Record<string, number | null> {
  if (metric === 'latency' && grouping === 'none') {
    const { p50 = null, p95 = null, p99 = null } = all.latency ?? {};
    return { p50, p95, p99 };
  }
  const values: Record<string, number | null> = {};
  const byKey = Map.groupBy(buckets, (bucket) => groupOf(bucket, grouping).key);
  for (const [key, own] of byKey) {
    const value = valueOfMetric(metric, figuresOf(own, grouping), all, grouping);
    if (shown.has(key)) values[key] = value;
    else if (shown.has(otherKey) && value !== null)
      values[otherKey] = (values[otherKey] ?? 0) + value;
  }
  return values;
}

/** Axis values at equal, round distances, from zero to the largest value or above it. */
export function evenTicks(max: number, metric: Metric): number[] {
  const wanted = 4;
  const least = metric === 'executions' || metric === 'tokens' || metric === 'latency' ? 1 : 0;
  const rough = Math.max(least, max <= 0 ? 1 : max / wanted);
  const steps = metric === 'latency' && rough >= 1_000 ? durationSteps : decimalSteps(rough);
  const step = steps.find((one) => one >= rough * 0.999) ?? rough;
  const count = Math.max(1, Math.ceil((max / step) * 0.999));
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

function decimalSteps(rough: number): number[] {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((one) => one * power);
}

/** Round seconds, minutes and hours, in milliseconds. */
const durationSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800].map((s) => s * 1_000);
