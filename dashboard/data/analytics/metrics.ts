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

/** A change as it is shown: its text, and whether that is more, less or the same. */
export interface ShownChange {
  readonly text: string;
  readonly direction: number;
}

/** The change from the previous value: of a rate in percentage points, else in percent. Null if there is nothing to compare. */
export function changeOf(
  metric: Metric,
  value: number | null,
  previous: number | null,
): ShownChange | null {
  if (value === null || previous === null) return null;
  if (metric === 'failures') {
    const points = Math.round((value - previous) * 1_000) / 10;
    return { text: `${signed(points)} pp`, direction: Math.sign(points) };
  }
  if (previous === 0) return null;
  const percent = Math.round((value / previous - 1) * 100);
  return { text: `${signed(percent)}%`, direction: Math.sign(percent) };
}

const signs = new Intl.NumberFormat(undefined, { signDisplay: 'exceptZero' });
/** With a minus sign: a hyphen is too short beside a plus sign. */
const signed = (value: number) => signs.format(value).replace('-', '\u2212');

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
