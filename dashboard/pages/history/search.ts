import { toText } from '../../data/client/search-params.ts';
import type { errorCodes } from './error-remedies.ts';

/** The filters of the list as search parameters, named as in the API. */
export interface HistorySearch {
  readonly q?: string | undefined;
  readonly status?: (typeof statuses)[number] | undefined;
  readonly source?: (typeof sources)[number] | undefined;
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
  readonly promptVersionId?: string | undefined;
  readonly model?: string | undefined;
  readonly apiKeyId?: string | undefined;
  readonly errorCode?: (typeof errorCodes)[number] | undefined;
  readonly latencyMsMin?: number | undefined;
  readonly latencyMsMax?: number | undefined;
  readonly costUSDMin?: string | undefined;
  readonly costUSDMax?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  readonly tag?: string | undefined;
  readonly offset?: number | undefined;
  /** Continues a search after a page that took too long to fill. */
  readonly cursor?: string | undefined;
  readonly [named: `variables.${string}` | `metadata.${string}`]: string | undefined;
}

export const statuses = ['success', 'failed', 'rate_limited', 'canceled', 'unauthorized'] as const;
export const sources = ['dashboard', 'api', 'workflow'] as const;

const texts = [
  'q',
  'startDate',
  'endDate',
  'promptVersionId',
  'model',
  'apiKeyId',
  'user',
  'session',
  'tag',
  'cursor',
] as const;
const amounts = ['costUSDMin', 'costUSDMax'] as const;
const counts = ['latencyMsMin', 'latencyMsMax', 'offset'] as const;

/** Drops invalid values: a mistyped URL shows more results, not an error. */
export function readSearch(given: Record<string, unknown>): HistorySearch {
  const read: Record<string, string | number> = {};
  const take = (name: string, known: readonly string[]) => {
    const value = known.find((one) => one === given[name]);
    if (value !== undefined) read[name] = value;
  };
  take('status', statuses);
  take('source', sources);
  // Only the format is checked: the list of codes loads with the page, and the server validates the value.
  if (/^[A-Z_]{1,40}$/.test(String(given.errorCode ?? '')))
    read.errorCode = String(given.errorCode);
  for (const name of texts) {
    const value = given[name];
    if (value !== undefined && value !== '') read[name] = toText(value);
  }
  for (const [name, value] of Object.entries(given)) {
    // An empty string is a valid value.
    if (/^(variables|metadata)\../.test(name) && value !== undefined) read[name] = toText(value);
  }
  for (const name of amounts) {
    const text = String(given[name] ?? '');
    if (/^\d{1,9}(\.\d{1,10})?$/.test(text)) read[name] = text;
  }
  for (const name of counts) {
    const count = Number(given[name]);
    if (Number.isSafeInteger(count) && count > 0) read[name] = count;
  }
  return read as HistorySearch;
}

/** Whether a filter makes the server scan records, which is too expensive to poll. */
export function scansRecords(search: HistorySearch): boolean {
  return Object.keys(search).some((name) => /^(q$|latencyMs|costUSD|variables\.)/.test(name));
}

export function isFiltered({ offset: _, cursor: __, ...filters }: HistorySearch): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}
