import type { Cueline } from '../../../src/client/index.ts';
import type { Grouping } from './analytics-search.ts';

/** Groups of statistics: which exist, what identifies one, and its figures. */

export type Answer = Awaited<ReturnType<Cueline['statistics']>>;
export type Bucket = Answer['buckets'][number];

export const groupingLabels: Record<Grouping, string> = {
  none: 'None',
  agent: 'Agent',
  model: 'Model',
  version: 'Version',
  key: 'API key',
  status: 'Status',
  errorCode: 'Error code',
  source: 'Source',
  user: 'User',
  tag: 'Tag',
};

/** `groupBy` of the request. The status tells successes from failures. */
export function groupByOf(grouping: Grouping): string {
  if (grouping === 'none' || grouping === 'status') return 'status';
  // Versions of several prompts have equal labels.
  if (grouping === 'version') return 'agent,status,version';
  return `${grouping},status`;
}

/** The figures of one group over one interval or the whole range. */
export interface Figures {
  readonly count: number;
  /** Executions that exist as records; refusals beyond a limit are only counted, and retention removes old ones. */
  readonly recorded: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUSD: number;
  readonly costUnknown: number;
  /** Of successes; of all executions if grouped by what only failures have. */
  readonly latency: Bucket['latencyMs'];
}

export function figuresOf(buckets: readonly Bucket[], grouping: Grouping): Figures {
  const sum = (of: (bucket: Bucket) => number) =>
    buckets.reduce((total, bucket) => total + of(bucket), 0);
  const count = (status: Bucket['status']) =>
    sum((bucket) => (bucket.status === status ? bucket.count : 0));
  const ofOne = grouping === 'status' || grouping === 'errorCode';
  const timed = ofOne
    ? buckets.toSorted((a, b) => b.count - a.count)[0]
    : buckets.find(({ status }) => status === 'success');
  return {
    count: sum((bucket) => bucket.count),
    recorded: sum((bucket) => bucket.recorded),
    succeeded: count('success'),
    failed: count('failed'),
    inputTokens: sum((bucket) => bucket.inputTokens),
    outputTokens: sum((bucket) => bucket.outputTokens),
    costUSD: sum((bucket) => bucket.costUSD),
    costUnknown: sum((bucket) => bucket.costUnknown),
    latency: timed?.latencyMs ?? null,
  };
}

export interface Group {
  /** Identifies it among the groups. */
  readonly key: string;
  /** What the response says: an id, a name or a code; null for executions without one. */
  readonly value: string | null;
  /** The remaining values together. */
  readonly other: boolean;
  readonly agentId: string | undefined;
  readonly agentName: string | null | undefined;
  readonly versionLabel: string | null | undefined;
}

export function groupOf(bucket: Bucket, grouping: Grouping): Group {
  const value = valueIn(bucket, grouping);
  const { agentId, agentName, promptVersionLabel: versionLabel, other = false } = bucket;
  const key = JSON.stringify([grouping === 'version' ? agentId : null, value, other]);
  return { key, value, other, agentId, agentName, versionLabel };
}

function valueIn(bucket: Bucket, grouping: Grouping): string | null {
  if (grouping === 'none') return null;
  if (grouping === 'agent') return bucket.agentId ?? null;
  if (grouping === 'version') return bucket.promptVersionId ?? null;
  if (grouping === 'key') return bucket.apiKeyId ?? null;
  return bucket[grouping] ?? null;
}
