import type { Cueline } from '../../src/client/index.ts';

/** What the pages make of the buckets that the server counts. */

export type Statistics = Awaited<ReturnType<Cueline['agents']['statistics']>>;
export type Bucket = Statistics['buckets'][number];
export type EndStatus = Bucket['status'];

export const endStatuses: readonly EndStatus[] = [
  'success',
  'failed',
  'rate_limited',
  'canceled',
  'unauthorized',
];

export interface Sums {
  readonly runs: number;
  readonly succeeded: number;
  /** Of the runs that a model could have answered: what was refused or canceled says nothing of the agent. */
  readonly successRate: number | null;
  readonly tokens: number;
  readonly costUSD: number;
  /** The steps' 95th percentiles, weighed by their runs: an estimate, which percentiles allow no better of. */
  readonly p95Ms: number | null;
}

export function sum(buckets: readonly Bucket[]): Sums {
  const total = (of: (bucket: Bucket) => number, some = buckets) =>
    some.reduce((so, bucket) => so + of(bucket), 0);
  const count = (status: EndStatus) =>
    total((bucket) => (bucket.status === status ? bucket.count : 0));
  const [succeeded, failed] = [count('success'), count('failed')];
  const timed = buckets.filter(({ status, latencyMs }) => status === 'success' && latencyMs);
  const timedRuns = total((bucket) => bucket.count, timed);
  return {
    runs: total((bucket) => bucket.count),
    succeeded,
    successRate: succeeded + failed === 0 ? null : succeeded / (succeeded + failed),
    tokens: total((bucket) => bucket.inputTokens + bucket.outputTokens),
    costUSD: total((bucket) => bucket.costUSD),
    p95Ms:
      timedRuns === 0
        ? null
        : total((bucket) => (bucket.latencyMs?.p95 ?? 0) * bucket.count, timed) / timedRuns,
  };
}

export interface Step {
  readonly start: string;
  readonly buckets: readonly Bucket[];
}

/** One entry for each step of the range, the empty ones too. */
export function steps({ level, startDate, endDate, buckets }: Statistics): Step[] {
  const byStart = Map.groupBy(buckets, ({ start }) => start);
  const all: Step[] = [];
  for (let ms = Date.parse(startDate); ms < Date.parse(endDate); ms += stepMs[level]) {
    const start = new Date(ms).toISOString();
    all.push({ start, buckets: byStart.get(start) ?? [] });
  }
  return all;
}

export const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** The whole hours that end with this one; the same for a whole hour, so that it can be part of a query's key. */
export function lastHours(hours: number, nowMs = Date.now()) {
  const end = Math.floor(nowMs / stepMs.hour) * stepMs.hour;
  const start = end - (hours - 1) * stepMs.hour;
  return { level: 'hour', startDate: new Date(start).toISOString() } as const;
}

export function lastDays(days: number, nowMs = Date.now()) {
  const end = Math.floor(nowMs / stepMs.day) * stepMs.day;
  const start = end - (days - 1) * stepMs.day;
  return { level: 'day', startDate: new Date(start).toISOString() } as const;
}
