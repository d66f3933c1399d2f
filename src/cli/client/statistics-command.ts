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
  const rest = rows.some(({ other }) => other) ? ['other'] : [];
  const groups = groupBy.map((grouping) => fieldOf[grouping] ?? grouping);
  const fields = ['start', ...groups, ...rest, ...figures] as (keyof (typeof rows)[number])[];
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

/** The field that identifies a group in a table, where its name is another. */
const fieldOf: Readonly<Record<string, string>> = {
  agent: 'agentId',
  version: 'promptVersionLabel',
  key: 'apiKeyId',
};
