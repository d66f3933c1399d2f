import type { Cueline } from '../../../src/client/index.ts';

/** What the pages make of the buckets that the server counts, told apart by status. */

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

/** Of bars and their names, wherever runs are counted by status. */
export const statusColors = {
  success: 'var(--chart-success)',
  failed: 'var(--chart-failed)',
  rate_limited: 'var(--chart-limited)',
  canceled: 'var(--chart-canceled)',
  unauthorized: 'var(--chart-unauthorized)',
} as const satisfies Record<EndStatus, string>;

export interface Sums {
  readonly runs: number;
  readonly succeeded: number;
  /** Of the runs that a model could have answered: what was refused or canceled says nothing of the agent. */
  readonly successRate: number | null;
  readonly tokens: number;
  readonly costUSD: number;
  /** Runs whose cost is not known, or only in part. */
  readonly costUnknown: number;
  /** Of the successful runs. */
  readonly p95Ms: number | null;
}

/** Of the buckets of one step: percentiles of several cannot be added up. */
export function sum(buckets: readonly Bucket[]): Sums {
  const total = (of: (bucket: Bucket) => number) =>
    buckets.reduce((so, bucket) => so + of(bucket), 0);
  const count = (status: EndStatus) =>
    total((bucket) => (bucket.status === status ? bucket.count : 0));
  const [succeeded, failed] = [count('success'), count('failed')];
  return {
    runs: total((bucket) => bucket.count),
    succeeded,
    successRate: succeeded + failed === 0 ? null : succeeded / (succeeded + failed),
    tokens: total((bucket) => bucket.inputTokens + bucket.outputTokens),
    costUSD: total((bucket) => bucket.costUSD),
    costUnknown: total((bucket) => bucket.costUnknown),
    p95Ms: latency(buckets)?.p95 ?? null,
  };
}

/** How long the successful runs of one step took. */
export function latency(buckets: readonly Bucket[]): Bucket['latencyMs'] {
  return buckets.find(({ status }) => status === 'success')?.latencyMs ?? null;
}

export interface Step {
  readonly start: string;
  readonly buckets: readonly Bucket[];
}

/** One entry for each step of the range, the empty ones too. */
export function steps({ level, startDate, endDate, buckets }: Statistics): Step[] {
  const byStart = Map.groupBy(buckets, ({ start }) => start);
  const all: Step[] = [];
  const first = new Date(startDate);
  for (let at = first; at.getTime() < Date.parse(endDate); ) {
    const start = at.toISOString();
    all.push({ start, buckets: byStart.get(start) ?? [] });
    if (level === 'all') break;
    at = level === 'day' ? dayFrom(first, all.length) : new Date(at.getTime() + stepMs[level]);
  }
  return all;
}

/**
 * Where a day of the viewer begins. Some have 23 or 25 hours, and where the clock is set forward at midnight one begins
 * at 1: counted from it, all later days would begin at 1, too.
 */
function dayFrom(time: Date, days: number): Date {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate() + days);
}

export const stepMs = { minute: 60_000, hour: 3_600_000 } as const;

/** A range of time, as a query asks for it. The same for a whole hour at least, so that it can be part of its key. */
export interface Range {
  readonly level: 'hour' | 'day' | 'all';
  readonly startDate: string;
  readonly timeZone?: string;
}

/** The whole hours that end with this one. */
export function lastHours(hours: number, nowMs = Date.now()): Range {
  const end = Math.floor(nowMs / stepMs.hour) * stepMs.hour;
  const start = end - (hours - 1) * stepMs.hour;
  return { level: 'hour', startDate: new Date(start).toISOString() };
}

/** The days that end with today, where the viewer is. */
export function lastDays(days: number, nowMs = Date.now()): Range {
  const start = dayFrom(new Date(nowMs), 1 - days);
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return { level: 'day', startDate: start.toISOString(), timeZone };
}

/** The same time as one step: its percentiles are those of all its runs. */
export function atOnce(range: Range): Range {
  return { ...range, level: 'all' };
}
