import { type RangeSearch, readRangeSearch } from './range-search.ts';

/** What a chart shows, as a search parameter. */
export const metrics = ['executions', 'failures', 'latency', 'tokens', 'cost'] as const;
export type Metric = (typeof metrics)[number];

/** The groups of a chart. */
export const groupings = [
  'none',
  'agent',
  'model',
  'version',
  'key',
  'status',
  'errorCode',
  'source',
  'user',
  'tag',
] as const;
export type Grouping = (typeof groupings)[number];

/** What the charts show, as search parameters. */
export interface AnalyticsSearch extends RangeSearch {
  readonly metric?: Metric | undefined;
  readonly by?: Grouping | undefined;
}

export function readAnalyticsSearch(given: Record<string, unknown>): AnalyticsSearch {
  const metric = metrics.find((one) => one === given.metric);
  const by = groupings.find((one) => one === given.by);
  return { ...readRangeSearch(given), ...(metric && { metric }), ...(by && { by }) };
}
