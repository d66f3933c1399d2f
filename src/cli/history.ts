import type { ExecutionFilters } from '../client/index.ts';
import type { Call } from './call.ts';
import { note, printList } from './print.ts';

export interface HistoryOptions extends ExecutionFilters {
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

/** The records of an agent, newest first: a page of them, or all that match. */
export async function history(
  { cueline, signal, json }: Call,
  agentId: string,
  { all, ...filters }: HistoryOptions,
): Promise<void> {
  if (all) return printList(cueline.listAll(agentId, filters, { signal }), fields, json);
  const { executions, pagination } = await cueline.list(agentId, filters, { signal });
  await printList(executions, fields, json);
  if (!pagination.hasMore) return;
  note(`${executions.length} of ${pagination.total}; --all shows every one.`);
}
