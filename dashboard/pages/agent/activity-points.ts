import { type EndStatus, endStatuses, type Step } from '../../data/statistics.ts';

/** One step of the charts, with a name for each line and bar. */
export type Point = { readonly start: string } & Readonly<
  Record<EndStatus | 'input' | 'output' | 'cost', number>
> &
  Readonly<Record<'p50' | 'p95' | 'p99', number | null>>;

export function pointOf({ start, buckets }: Step): Point {
  const total = (of: (bucket: Step['buckets'][number]) => number) =>
    buckets.reduce((so, bucket) => so + of(bucket), 0);
  const counts = endStatuses.map((status) => [
    status,
    total((bucket) => (bucket.status === status ? bucket.count : 0)),
  ]);
  // Of several sources the counts weigh: percentiles cannot be added up, and the difference is small.
  const timed = buckets.filter(({ status, latencyMs }) => status === 'success' && latencyMs);
  const runs = timed.reduce((so, { count }) => so + count, 0);
  const percentile = (of: 'p50' | 'p95' | 'p99') =>
    runs === 0
      ? null
      : timed.reduce((so, { latencyMs, count }) => so + (latencyMs?.[of] ?? 0) * count, 0) / runs;
  return {
    start,
    ...(Object.fromEntries(counts) as Record<EndStatus, number>),
    input: total((bucket) => bucket.inputTokens),
    output: total((bucket) => bucket.outputTokens),
    cost: total((bucket) => bucket.costUSD),
    p50: percentile('p50'),
    p95: percentile('p95'),
    p99: percentile('p99'),
  };
}
