import { type FilterOptions, filtersOf } from './history-filters.ts';
import { printList, printNotice } from './print.ts';
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
 * Lists the records of one agent or of all agents, newest first: one page or, with `all`, every
 * match.
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
  if (!page.pagination.hasMore) return;
  const { total } = page.pagination;
  const count = `${page.executions.length} of ${page.totalIsLowerBound ? 'at least ' : ''}${total}`;
  const searched = page.searchedTo ? `, searched back to ${page.searchedTo}` : '';
  printNotice(`${count} records${searched}. Use --all to list all of them.`);
}
