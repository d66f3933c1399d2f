import {
  type EndStatus,
  endStatuses,
  type Interval,
  latency,
} from '../../data/executions/statistics.ts';

/** One interval of the charts, with a value per series. */
export type Point = { readonly start: string } & Readonly<
  Record<EndStatus | 'input' | 'output' | 'cost' | 'costUnknown', number>
> &
  Readonly<Record<'p50' | 'p95' | 'p99', number | null>>;

export function toPoint({ start, buckets }: Interval): Point {
  const total = (of: (bucket: Interval['buckets'][number]) => number) =>
    buckets.reduce((acc, bucket) => acc + of(bucket), 0);
  const counts = endStatuses.map((status) => [
    status,
    total((bucket) => (bucket.status === status ? bucket.count : 0)),
  ]);
  const times = latency(buckets);
  return {
    start,
    ...(Object.fromEntries(counts) as Record<EndStatus, number>),
    input: total((bucket) => bucket.inputTokens),
    output: total((bucket) => bucket.outputTokens),
    cost: total((bucket) => bucket.costUSD),
    costUnknown: total((bucket) => bucket.costUnknown),
    p50: times?.p50 ?? null,
    p95: times?.p95 ?? null,
    p99: times?.p99 ?? null,
  };
}
