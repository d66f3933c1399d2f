import type { Cueline, ExecutionPage } from '../../client/index.ts';
import { type FilterOptions, filtersOf } from './history-filters.ts';
import { print, printList, printNotice, printOne } from './print.ts';
import type { Call } from './run-call.ts';

export interface HistoryOptions extends FilterOptions {
  readonly limit?: number;
  readonly all?: true;
}

const fields = [
  'executionId',
  'executedAt',
  'status',
  'source',
  'latencyMs',
  'tokensUsed',
  'costUSD',
  'promptVersionLabel',
  'errorCode',
] as const;

/**
 * Lists the records of one agent or of all agents: one page, perhaps with totals, or, with `all`,
 * every match.
 */
export async function history(
  { cueline, signal, json }: Call,
  agentId: string | null = null,
  { all, limit, ...filterOptions }: HistoryOptions,
): Promise<void> {
  const filters = filtersOf(filterOptions);
  const shown = agentId === null ? (['agentName', ...fields] as const) : fields;
  if (all) return printList(cueline.listAll(agentId, filters, { signal }), shown, json);
  const page = await cueline.list(agentId, { ...filters, limit }, { signal });
  await printList(page.executions, shown, json);
  if (page.totals) await printTotals(page.totals, json);
  if (page.sortedOver !== undefined) printNotice(`Sorted the newest ${page.sortedOver} matches.`);
  if (!page.pagination.hasMore) return;
  const { total } = page.pagination;
  const count = `${page.executions.length} of ${page.totalIsLowerBound ? 'at least ' : ''}${total}`;
  const searched = page.searchedTo ? `, searched back to ${page.searchedTo}` : '';
  printNotice(`${count} records${searched}. Use --all to list all of them.`);
}

/** As JSON, a line of its own after the records. */
async function printTotals(totals: NonNullable<ExecutionPage['totals']>, json: boolean) {
  if (json) return print(JSON.stringify({ totals }));
  await print('');
  await printOne(totals, json);
}

/** Lists a page of sessions. */
export async function sessions(
  { cueline, signal, json }: Call,
  query: SessionQuery,
): Promise<void> {
  const page = await cueline.listSessions(query, { signal });
  await printList(page.sessions, sessionFields, json);
  if (page.nextCursor) printNotice(`Use --cursor ${page.nextCursor} for the next page.`);
}

type SessionQuery = NonNullable<Parameters<Cueline['listSessions']>[0]>;
const sessionFields = ['session', 'user', 'executions', 'lastAt', 'costUSD', 'failures'] as const;
