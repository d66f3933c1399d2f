import { joinValues } from '../../../src/client/index.ts';
import { splitValues, toText } from '../../data/client/search-params.ts';
import { isPeriod, type Period } from '../../data/executions/periods.ts';

/**
 * The search parameters of the list of executions, `/history` and `/agents/{agentId}/history`. Every view of the list is
 * such a URL, so that other pages link to what they count:
 *
 *     <Link to="/history" search={{ status: 'failed', errorCode: 'MODEL_TIMEOUT', period: 'yesterday' }}>
 *
 * Filters are named as in the API. Those in `lists` take several values (`joinValues`). A value that is not valid is
 * dropped: a mistyped URL shows more executions, not an error.
 */
export interface HistorySearch {
  /** Words in output or variables. */
  readonly q?: string | undefined;
  /** A time range that moves with the clock. `startDate` and `endDate` (ISO 8601, inclusive) take precedence. */
  readonly period?: Period | undefined;
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
  /** `success`, `failed`, `rate_limited`, `canceled`, `unauthorized`, and `processing` for running ones. */
  readonly status?: string | undefined;
  readonly source?: string | undefined;
  /** `true` for executions of the playground, which are left out otherwise; `true,false` for all. */
  readonly playground?: string | undefined;
  /** Not on the page of an agent. */
  readonly agentId?: string | undefined;
  readonly promptVersionId?: string | undefined;
  readonly model?: string | undefined;
  readonly apiKeyId?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly user?: string | undefined;
  readonly executionId?: string | undefined;
  readonly session?: string | undefined;
  readonly tag?: string | undefined;
  readonly rerunOf?: string | undefined;
  readonly batchId?: string | undefined;
  readonly latencyMsMin?: number | undefined;
  readonly latencyMsMax?: number | undefined;
  readonly costUSDMin?: string | undefined;
  readonly costUSDMax?: string | undefined;
  readonly [named: `variables.${string}` | `metadata.${string}`]: string | undefined;
  /** As in the API: `-costUSD`. The newest first without one. */
  readonly sort?: Sort | undefined;
  readonly offset?: number | undefined;
  /** The execution in the side panel: `agt_…/exe_…`. */
  readonly open?: string | undefined;
}

export const sortable = ['executedAt', 'latencyMs', 'tokensUsed', 'costUSD'] as const;
export type SortKey = (typeof sortable)[number];
export type Sort = SortKey | `-${SortKey}`;

export const statuses = [
  'success',
  'failed',
  'processing',
  'rate_limited',
  'canceled',
  'unauthorized',
] as const;
export const sources = ['dashboard', 'api', 'workflow'] as const;

/** Filters of several values, in the order in which the filter bar offers them. */
export const lists = [
  ...(['status', 'errorCode', 'agentId', 'model', 'promptVersionId', 'source'] as const),
  ...(['playground', 'apiKeyId', 'user', 'executionId'] as const),
] as const;
export type ListName = (typeof lists)[number];

const texts = ['session', 'tag', 'rerunOf', 'batchId', 'open'] as const;
const amounts = ['costUSDMin', 'costUSDMax'] as const;
const counts = ['latencyMsMin', 'latencyMsMax', 'offset'] as const;

/** Limits of the API: more would be rejected. */
const [valuesMax, idsMax, wordsMax, latencyMsMax] = [20, 100, 200, 2_147_483_647];

export function readSearch(given: Record<string, unknown>): HistorySearch {
  const read: Record<string, string | number> = {};
  for (const name of lists) {
    const values = valuesOf(textOf(given[name])).filter((value) => isAllowed(name, value));
    const max = name === 'executionId' ? idsMax : valuesMax;
    if (values.length > 0) read[name] = joinValues(values.slice(0, max));
  }
  for (const name of texts) {
    const text = textOf(given[name]);
    if (text !== '') read[name] = text;
  }
  const words = Array.from(textOf(given.q)).slice(0, wordsMax).join('');
  if (words !== '') read.q = words;
  for (const [name, value] of Object.entries(given)) {
    // An empty string is a valid value.
    if (/^(variables|metadata)\../.test(name) && value !== undefined) read[name] = textOf(value);
  }
  const sort = sortable
    .flatMap((key) => [`-${key}`, key] as const)
    .find((one) => one === given.sort);
  if (sort !== undefined && sort !== '-executedAt') read.sort = sort;
  return { ...read, ...readRanges(given), ...readTime(given) };
}

/** The filters of a saved view or of a link. */
export function parseSearch(query: string): HistorySearch {
  return readSearch(Object.fromEntries(new URLSearchParams(query)));
}

/** The filters as the query of the list, without the place in it. */
export function writeSearch({ offset: _, open: __, ...filters }: HistorySearch): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

export function valuesOf(list: string | undefined): string[] {
  return list === undefined ? [] : splitValues(list);
}

/** Whether a filter makes the server scan records, which is too expensive to poll without a bound. */
export function scansRecords(search: HistorySearch): boolean {
  return Object.keys(search).some((name) => /^(q$|latencyMs|costUSD|variables\.)/.test(name));
}

export function isFiltered({ offset: _, open: __, sort: ___, ...filters }: HistorySearch): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

/** The database does not accept a NUL. */
function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : toText(value).replaceAll('\0', '');
}

/** Error codes load with the page, which drops unknown ones. */
function isAllowed(name: ListName, value: string): boolean {
  if (name === 'status') return (statuses as readonly string[]).includes(value);
  if (name === 'source') return (sources as readonly string[]).includes(value);
  if (name === 'playground') return value === 'true' || value === 'false';
  return name === 'errorCode' ? /^[A-Z_]{1,40}$/.test(value) : value.length <= 200;
}

/** Reversed bounds are swapped. */
function readRanges(given: Record<string, unknown>): Partial<HistorySearch> {
  const read: Record<string, string | number> = {};
  for (const name of amounts) {
    const text = String(given[name] ?? '');
    if (/^\d{1,9}(\.\d{1,10})?$/.test(text)) read[name] = text;
  }
  for (const name of counts) {
    const count = Number(given[name]);
    if (Number.isSafeInteger(count) && count > 0) read[name] = Math.min(count, latencyMsMax);
  }
  swapReversed(read, 'costUSDMin', 'costUSDMax', Number);
  swapReversed(read, 'latencyMsMin', 'latencyMsMax', Number);
  return read as HistorySearch;
}

function readTime(given: Record<string, unknown>): Partial<HistorySearch> {
  const read: Record<string, string | number> = {};
  for (const name of ['startDate', 'endDate'] as const) {
    const text = textOf(given[name]);
    if (!Number.isNaN(Date.parse(text)) && text.length <= 40) read[name] = text;
  }
  swapReversed(read, 'startDate', 'endDate', (value) => Date.parse(String(value)));
  const isAbsolute = 'startDate' in read || 'endDate' in read;
  return !isAbsolute && isPeriod(given.period) ? { period: given.period } : (read as HistorySearch);
}

function swapReversed(
  read: Record<string, string | number>,
  min: string,
  max: string,
  order: (value: string | number) => number,
): void {
  const [low, high] = [read[min], read[max]];
  if (low === undefined || high === undefined || order(low) <= order(high)) return;
  [read[min], read[max]] = [high, low];
}
