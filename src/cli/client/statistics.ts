import type { WorkspaceStatisticsQuery } from '../../client/index.ts';
import { printList } from './print.ts';
import type { Call } from './run-call.ts';

/** `cueline statistics`: statistics of one agent or of all agents per interval. */
export async function statistics(
  { cueline, signal, json }: Call,
  agentId: string | undefined,
  query: WorkspaceStatisticsQuery,
): Promise<void> {
  const { buckets, groupBy } =
    agentId === undefined
      ? await cueline.statistics(query, { signal })
      : await cueline.agents.statistics(agentId, query, { signal });
  if (json) return printList(buckets, [], json);
  const rows = buckets.map(({ latencyMs, successRate, ...bucket }) => ({
    ...bucket,
    successRate: successRate === null ? null : Number(successRate.toFixed(4)),
    p50: latencyMs?.p50,
    p95: latencyMs?.p95,
    p99: latencyMs?.p99,
  }));
  const fields = ['start', ...groupBy.map((grouping) => fieldOf[grouping]), ...figures] as const;
  await printList(rows, fields, json);
}

const figures = [
  'count',
  'successRate',
  'inputTokens',
  'outputTokens',
  'costUSD',
  'costUnknown',
  'p50',
  'p95',
  'p99',
] as const;

/** The field that identifies a group in a table. */
const fieldOf = {
  agent: 'agentId',
  status: 'status',
  source: 'source',
  version: 'promptVersionLabel',
  model: 'model',
  key: 'apiKeyId',
  errorCode: 'errorCode',
} as const;
