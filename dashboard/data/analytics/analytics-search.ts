import { toText } from '../client/search-params.ts';
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
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly key?: string | undefined;
  /** With `tag`, only the list of executions has an answer: the statistics count by one of them. */
  readonly user?: string | undefined;
  readonly tag?: string | undefined;
}

const filterNames = ['agent', 'model', 'key', 'user', 'tag'] as const;

export function readAnalyticsSearch(given: Record<string, unknown>): AnalyticsSearch {
  const metric = metrics.find((one) => one === given.metric);
  const by = groupings.find((one) => one === given.by);
  const filters = Object.fromEntries(
    filterNames.flatMap((name) => {
      const text = toText(given[name]);
      return text === undefined || text === '' ? [] : [[name, text]];
    }),
  );
  return { ...readRangeSearch(given), ...(metric && { metric }), ...(by && { by }), ...filters };
}
