import type { Alert } from '../../../../src/client/index.ts';
import {
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
} from '../../../data/text/format.ts';

type Metric = Alert['metric'];

/** How the metrics are named and entered. */
export const metricTexts: Readonly<
  Record<
    Metric,
    {
      readonly label: string;
      /** The unit in which a threshold is typed, and how many of it the value is. */
      readonly unit: string;
      readonly factor: number;
      /** Measured now, not over a window. */
      readonly isCurrent?: true;
    }
  >
> = {
  failureRate: { label: 'Failure rate', unit: '%', factor: 100 },
  count: { label: 'Calls', unit: 'calls', factor: 1 },
  p50: { label: 'Median latency', unit: 'ms', factor: 1 },
  p95: { label: 'p95 latency', unit: 'ms', factor: 1 },
  costUSD: { label: 'Cost', unit: 'US dollars', factor: 1 },
  costUnknown: { label: 'Calls of unknown cost', unit: 'calls', factor: 1 },
  quotaUsed: { label: 'Used quota', unit: '%', factor: 100, isCurrent: true },
  queueAge: { label: 'Queue age', unit: 'seconds', factor: 1, isCurrent: true },
  budgetUsed: { label: 'Used budget', unit: '%', factor: 100, isCurrent: true },
};

/** Text of a value; a dash without data. */
export function formatValue(metric: Metric, value: number | null): string {
  if (value === null) return '–';
  switch (metric) {
    case 'failureRate':
    case 'quotaUsed':
    case 'budgetUsed':
      return formatPercent(value);
    case 'p50':
    case 'p95':
      return formatDuration(value);
    case 'queueAge':
      return formatDuration(value * 1_000);
    case 'costUSD':
      return formatCost(value);
    default:
      return formatCount(value);
  }
}

/** `0.1 * 100` must not show as 10.000000000000002. */
export function toTyped(metric: Metric, value: number): number {
  return Number((value * metricTexts[metric].factor).toPrecision(12));
}

export function fromTyped(metric: Metric, typed: number): number {
  return Number((typed / metricTexts[metric].factor).toPrecision(12));
}
