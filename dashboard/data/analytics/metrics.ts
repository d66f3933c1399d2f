import {
  formatCost,
  formatCostSum,
  formatCount,
  formatDuration,
  formatPercent,
} from '../text/format.ts';
import type { Grouping, Metric } from './analytics-search.ts';
import type { Figures } from './groups.ts';

export const metricLabels: Record<Metric, string> = {
  executions: 'Executions',
  failures: 'Failure rate',
  latency: 'Latency',
  tokens: 'Tokens',
  cost: 'Cost',
};

/** The grouping that answers the usual question about a metric. */
export const usualGrouping: Record<Metric, Grouping> = {
  executions: 'status',
  failures: 'errorCode',
  latency: 'none',
  tokens: 'model',
  cost: 'model',
};

/** The value of a group. Null if it is unknown, which is not zero. `all`: the figures of all groups together. */
export function valueOfMetric(
  metric: Metric,
  figures: Figures,
  all: Figures,
  grouping: Grouping,
): number | null {
  if (metric === 'executions') return figures.count;
  if (metric === 'tokens') return figures.inputTokens + figures.outputTokens;
  if (metric === 'cost') return figures.costUSD;
  if (metric === 'latency') return figures.latency?.p95 ?? null;
  // Each error code fails always: its rate is its share of all executions.
  const of = grouping === 'errorCode' || grouping === 'status' ? all : figures;
  const completed = of.succeeded + of.failed;
  return completed === 0 ? null : figures.failed / completed;
}

/** Over all executions. */
export function totalOf(metric: Metric, figures: Figures): number | null {
  return valueOfMetric(metric, figures, figures, 'none');
}

/** Whether the values of the groups add up to the total, so that their bars can be stacked. */
export function isStacked(metric: Metric, grouping: Grouping): boolean {
  // An execution with two tags counts in both.
  if (metric === 'latency' || grouping === 'tag') return false;
  if (metric === 'failures') return ['none', 'errorCode', 'status'].includes(grouping);
  return true;
}

/** Percentiles come from a histogram, so each shows that it is approximate. */
export const formatApproximate = (ms: number) => `≈ ${formatDuration(ms)}`;

/** On an axis, where values are exact. */
export function formatTick(metric: Metric, value: number): string {
  if (metric !== 'latency') return formatMetric[metric](value);
  if (value === 0) return '0';
  if (value < 1_000) return `${value} ms`;
  return value < 60_000 ? `${value / 1_000} s` : `${value / 60_000} min`;
}

export const formatMetric: Record<Metric, (value: number) => string> = {
  executions: formatCount,
  failures: formatPercent,
  latency: formatApproximate,
  tokens: formatCount,
  cost: formatCost,
};

/** The change from the previous value, such as `+12 %`. Null if there is nothing to compare. */
export function changeOf(value: number | null, previous: number | null): number | null {
  if (value === null || previous === null || previous === 0) return null;
  return value / previous - 1;
}

const signed = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});

/** More than ten times as much is shown as a factor. */
export function formatChange(change: number): string {
  if (change >= 10) return `× ${Math.round(change + 1)}`;
  return signed.format(change);
}

/** The value of a metric over all executions. */
export const formatTotal: Record<Metric, (figures: Figures) => string> = {
  executions: ({ count }) => formatCount(count),
  failures: ({ succeeded, failed }) =>
    succeeded + failed === 0 ? '–' : formatPercent(failed / (succeeded + failed)),
  latency: ({ latency }) => (latency === null ? '–' : formatApproximate(latency.p95)),
  tokens: ({ inputTokens, outputTokens }) => formatCount(inputTokens + outputTokens),
  cost: formatCostSum,
};

/** Metrics of which more is worse. */
export const worse: Partial<Record<Metric, 'up'>> = { failures: 'up', latency: 'up', cost: 'up' };
