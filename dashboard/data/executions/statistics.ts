import type { Cueline } from '../../../src/client/index.ts';

/** Aggregates the server's statistics buckets, which are grouped by status. */

type Answer = Awaited<ReturnType<Cueline['agents']['statistics']>>;
export type Statistics = Pick<Answer, 'level' | 'startDate' | 'endDate' | 'buckets'>;
export type Bucket = Statistics['buckets'][number];
export type EndStatus = NonNullable<Bucket['status']>;

export const endStatuses: readonly EndStatus[] = [
  'success',
  'failed',
  'rate_limited',
  'canceled',
  'unauthorized',
];

/** Chart colours by status. */
export const statusColors = {
  success: 'var(--chart-success)',
  failed: 'var(--chart-failed)',
  rate_limited: 'var(--chart-limited)',
  canceled: 'var(--chart-canceled)',
  unauthorized: 'var(--chart-unauthorized)',
} as const satisfies Record<EndStatus, string>;

export interface Totals {
  readonly executions: number;
  readonly succeeded: number;
  /** Successful among successful and failed: refused and canceled executions do not count. */
  readonly successRate: number | null;
  readonly tokens: number;
  readonly costUSD: number;
  /** Executions whose cost is unknown, at least in part. */
  readonly costUnknown: number;
  /** Of successful executions. */
  readonly p95Ms: number | null;
}

/** Totals of one interval's buckets. Percentiles of several intervals cannot be added. */
export function totalsOf(buckets: readonly Bucket[]): Totals {
  const total = (of: (bucket: Bucket) => number) =>
    buckets.reduce((acc, bucket) => acc + of(bucket), 0);
  const count = (status: EndStatus) =>
    total((bucket) => (bucket.status === status ? bucket.count : 0));
  const [succeeded, failed] = [count('success'), count('failed')];
  return {
    executions: total((bucket) => bucket.count),
    succeeded,
    successRate: succeeded + failed === 0 ? null : succeeded / (succeeded + failed),
    tokens: total((bucket) => bucket.inputTokens + bucket.outputTokens),
    costUSD: total((bucket) => bucket.costUSD),
    costUnknown: total((bucket) => bucket.costUnknown),
    p95Ms: latency(buckets)?.p95 ?? null,
  };
}

/** Latency percentiles of the successful executions of one interval. */
export function latency(buckets: readonly Bucket[]): Bucket['latencyMs'] {
  return buckets.find(({ status }) => status === 'success')?.latencyMs ?? null;
}

export interface Interval {
  readonly start: string;
  readonly buckets: readonly Bucket[];
}

/** One entry per interval of the range, including empty ones. */
export function intervals({ level, startDate, endDate, buckets }: Statistics): Interval[] {
  const byStart = Map.groupBy(buckets, ({ start }) => start);
  const all: Interval[] = [];
  const first = new Date(startDate);
  for (let at = first; at.getTime() < Date.parse(endDate); ) {
    const start = at.toISOString();
    all.push({ start, buckets: byStart.get(start) ?? [] });
    if (level === 'all') break;
    at = level === 'day' ? dayFrom(first, all.length) : new Date(at.getTime() + intervalMs.hour);
  }
  return all;
}

/**
 * The start of the viewer's day that is `days` after `time`. Days can have 23 or 25 hours, and a day without a midnight
 * starts at 1:00, so each start is computed from the calendar, not from the previous start.
 */
function dayFrom(time: Date, days: number): Date {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate() + days);
}

export const intervalMs = { minute: 60_000, hour: 3_600_000 } as const;

/** A time range for a statistics query. Stable for an hour, so that it can be part of a query key. */
export interface Range {
  readonly level: 'hour' | 'day' | 'all';
  readonly startDate: string;
  readonly timeZone?: string;
}

/** The last `hours` whole hours, including the current one. */
export function lastHours(hours: number, nowMs = Date.now()): Range {
  const end = Math.floor(nowMs / intervalMs.hour) * intervalMs.hour;
  const start = end - (hours - 1) * intervalMs.hour;
  return { level: 'hour', startDate: new Date(start).toISOString() };
}

/** The last `days` days, including today, in the viewer's time zone. */
export function lastDays(days: number, nowMs = Date.now()): Range {
  const start = dayFrom(new Date(nowMs), 1 - days);
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return { level: 'day', startDate: start.toISOString(), timeZone };
}

/** The same range as a single interval, whose percentiles cover all executions. */
export function asSingleInterval(range: Range): Range {
  return { ...range, level: 'all' };
}
