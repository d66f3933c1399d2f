import type { Call } from './call.ts';
import { type FilterOptions, filtersOf } from './history-filters.ts';
import { note, printList } from './print.ts';

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

/** The records of an agent, or of all, newest first: a page of them, or every one that matches. */
export async function history(
  { cueline, signal, json }: Call,
  agentId: string | null,
  { all, limit, ...asked }: HistoryOptions,
): Promise<void> {
  const filters = filtersOf(asked);
  const shown = agentId === null ? (['agentName', ...fields] as const) : fields;
  if (all) return printList(cueline.listAll(agentId, filters, { signal }), shown, json);
  const page = await cueline.list(agentId, { ...filters, limit }, { signal });
  await printList(page.executions, shown, json);
  if (!page.pagination.hasMore) return;
  note(`${page.executions.length} of ${page.pagination.total}; --all shows every one.`);
}
