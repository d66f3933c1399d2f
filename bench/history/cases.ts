import { levelMs } from '../../src/core/history/statistics.ts';
import { toId } from '../../src/core/id.ts';
import type { Fixture } from './fixture.ts';

/** Queries of a history: every filter, selective or not, and pages from the first to the last. */

export interface Case {
  readonly name: string;
  readonly query: string;
  /** The number of matching records. */
  readonly total: number;
}

interface Filter {
  readonly limit?: number;
  /** The page: its index, its position as a share of all pages, or the last. */
  readonly page?: number | 'last' | { readonly share: number };
  /** Uses the `nextCursor` of that page instead. */
  readonly byCursor?: boolean;
  readonly filter?: Readonly<Record<string, string>>;
}

/** With offsets and dates of this history. */
export async function casesOf(fixture: Fixture): Promise<Case[]> {
  const cases: Case[] = [];
  for (const [name, filter] of Object.entries(all(fixture))) {
    cases.push({ name, ...(await queryOf(fixture, filter)) });
  }
  return cases;
}

/** The cases that a backlog of live executions could slow down. */
export const backlogCases = [
  'first page',
  'page 2',
  'limit 100',
  'middle page',
  'last page',
  'status failed',
  'status unauthorized (rare)',
  'source workflow',
  'the last hour',
  '30 days, cut within minutes',
  'model, middle page',
  'with unfinished ones',
];

const middle = { share: 0.5 };

function all({ agent, fromMs, toMs }: Fixture): Record<string, Filter> {
  const between = (from: number, to: number) => ({ startDate: iso(from), endDate: iso(to) });
  const length = toMs - fromMs;
  const day = Math.floor((fromMs + length / 2) / levelMs.day) * levelMs.day;
  const noon = day + 12 * levelMs.hour;
  const wide = Math.min(30 * levelMs.day, length / 3);
  const cut = { minute: 23_417, quarter: 7 * 60_000 + 41_003, hour: 37 * 60_000 };
  const model = { model: 'anthropic/claude-haiku-4-5' };
  const version = { promptVersionId: toId('version', agent.versions[1]?.id ?? '') };
  const key = { apiKeyId: toId('key', agent.keyIds[2] ?? '') };
  const code = { errorCode: 'PROVIDER_RATE_LIMITED' };
  return {
    'first page': {},
    'page 2': { page: 1 },
    'limit 1': { limit: 1 },
    'limit 100': { limit: 100 },
    'page 10 of 100': { limit: 100, page: 9 },
    'page at 1%': { page: { share: 0.01 } },
    'page at 10%': { page: { share: 0.1 } },
    'middle page': { page: middle },
    'middle page, limit 100': { page: middle, limit: 100 },
    'page at 90%': { page: { share: 0.9 } },
    'last page': { page: 'last' },
    'last page of 40': { page: 'last', limit: 40 },
    'beyond the last page': { page: { share: 1.1 } },
    'cursor of the middle page': { page: middle, byCursor: true },
    'status success': { filter: { status: 'success' } },
    'status success, middle page': { filter: { status: 'success' }, page: middle },
    'status success, last page': { filter: { status: 'success' }, page: 'last' },
    'status failed': { filter: { status: 'failed' } },
    'status failed, middle page': { filter: { status: 'failed' }, page: middle },
    'status failed, last page': { filter: { status: 'failed' }, page: 'last' },
    'status rate_limited': { filter: { status: 'rate_limited' } },
    'status rate_limited, middle page': { filter: { status: 'rate_limited' }, page: middle },
    'status canceled': { filter: { status: 'canceled' } },
    'status unauthorized (rare)': { filter: { status: 'unauthorized' } },
    'status unauthorized, last page of 1': {
      filter: { status: 'unauthorized' },
      limit: 1,
      page: 'last',
    },
    'source api': { filter: { source: 'api' } },
    'source dashboard, middle page': { filter: { source: 'dashboard' }, page: middle },
    'source workflow': { filter: { source: 'workflow' } },
    'source workflow, last page': { filter: { source: 'workflow' }, page: 'last' },
    'failed from the dashboard': { filter: { status: 'failed', source: 'dashboard' } },
    'canceled workflow steps, last page': {
      filter: { status: 'canceled', source: 'workflow' },
      page: 'last',
    },
    'unauthorized from the dashboard (none)': {
      filter: { status: 'unauthorized', source: 'dashboard' },
    },
    'the last hour': { filter: between(toMs - levelMs.hour, toMs) },
    'one day': { filter: { startDate: iso(day).slice(0, 10), endDate: iso(day).slice(0, 10) } },
    'one minute': { filter: between(noon, noon + levelMs.minute - 1) },
    'three seconds': { filter: between(noon + cut.minute, noon + cut.minute + 3_000) },
    'entire range': { filter: between(fromMs, toMs) },
    'entire range, middle page': { filter: between(fromMs, toMs), page: middle },
    'before the first record (none)': {
      filter: between(fromMs - 20 * levelMs.day, fromMs - 10 * levelMs.day),
    },
    'after the last record (none)': { filter: { startDate: iso(toMs + levelMs.day) } },
    '30 days, cut within minutes': {
      filter: between(noon - wide / 2 + cut.minute, noon + wide / 2 + cut.minute),
    },
    '30 days, cut within minutes, middle page': {
      filter: between(noon - wide / 2 + cut.minute, noon + wide / 2 + cut.minute),
      page: middle,
    },
    '30 days, cut within hours, last page': {
      filter: between(noon - wide / 2 + cut.hour, noon + wide / 2 + cut.hour),
      page: 'last',
    },
    'since noon of the middle day': { filter: { startDate: iso(noon) } },
    '30 days, failed, cut within minutes, middle page': {
      filter: { status: 'failed', ...between(noon - wide / 2 + cut.minute, noon + wide / 2) },
      page: middle,
    },
    'entire range, unauthorized': {
      filter: { status: 'unauthorized', ...between(fromMs + cut.minute, toMs) },
    },
    'error code': { filter: code },
    'error code, middle page': { filter: code, page: middle },
    'error code, 30 days, cut within quarters, last page': {
      filter: { ...code, ...between(noon - wide / 2 + cut.quarter, noon + wide / 2) },
      page: 'last',
    },
    'model, middle page': { filter: model, page: middle },
    'model, last page': { filter: model, page: 'last' },
    'prompt version': { filter: version },
    'prompt version, last page': { filter: version, page: 'last' },
    'key, middle page': { filter: key, page: middle },
    'key, 30 days, cut within quarters': {
      filter: { ...key, ...between(noon - wide / 2 + cut.quarter, noon + wide / 2 + 1) },
    },
    'key, model, version and status, middle page': {
      filter: { ...key, ...model, ...version, status: 'success' },
      page: middle,
    },
    'with unfinished ones': { filter: { include: 'processing' } },
    'with unfinished ones, middle page': { filter: { include: 'processing' }, page: middle },
  };
}

async function queryOf(fixture: Fixture, { limit = 20, page = 0, filter, byCursor }: Filter) {
  const query = new URLSearchParams({ ...filter, limit: String(limit) });
  const { total } = (await fixture.ask(`${query}`)).pagination;
  const last = Math.max(0, Math.ceil(total / limit) - 1);
  const number =
    page === 'last' ? last : typeof page === 'number' ? page : Math.round(last * page.share);
  if (number > 0) query.set('offset', String(number * limit));
  if (byCursor) {
    const { nextCursor } = await fixture.ask(`${query}`);
    query.delete('offset');
    if (nextCursor) query.set('cursor', nextCursor);
  }
  return { query: `${query}`, total };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
