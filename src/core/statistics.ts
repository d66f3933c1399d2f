import type { EndStatus, Source } from './execution.ts';
import type { RunFailureCode } from './failure.ts';

/** Statistics: what is added up for each agent, time bucket, status and source, and how latencies are binned. */

export const levels = ['minute', 'hour', 'day'] as const;
export type Level = (typeof levels)[number];

/** Of the breakdown. The days of every time zone begin at a quarter of an hour, UTC. */
export const breakdownLevels = ['quarter', 'day'] as const;
export type BreakdownLevel = (typeof breakdownLevels)[number];

export const levelMs: Record<Level | BreakdownLevel, number> = {
  minute: 60_000,
  quarter: 900_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** What calls are told apart by. */
export const groupings = [
  'agent',
  'status',
  'source',
  'version',
  'model',
  'key',
  'errorCode',
] as const;
export type Grouping = (typeof groupings)[number];

/** What one ended or refused call adds to the statistics. */
export interface Tally {
  readonly agentId: string;
  readonly executedAtMs: number;
  readonly status: EndStatus;
  readonly source: Source;
  readonly promptVersionId: string;
  readonly model: string;
  readonly apiKeyId: string | null;
  readonly errorCode: RunFailureCode | null;
  /** False for a refusal that got no row. */
  readonly recorded: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  readonly costKnown: boolean;
  /** Null for what never ran: it has no place in the latencies. */
  readonly latencyMs: number | null;
}

interface Sums {
  happened: number;
  recorded: number;
  inputTokens: number;
  outputTokens: number;
  /** One decimal text for each tally: they are added up as `numeric`, never as floats. */
  costsUsd: string[];
  /** Calls whose cost is not known, or only in part. */
  costUnknown: number;
  /** How many there are in each bin. */
  latency: number[];
}

type Key = Pick<Tally, 'agentId' | 'status' | 'source'> & { readonly startMs: number };

export interface Bucket extends Key, Sums {
  readonly level: Level;
}

export interface BreakdownBucket extends Key, Sums {
  readonly level: BreakdownLevel;
  readonly promptVersionId: string;
  readonly model: string;
  readonly apiKeyId: string | null;
  readonly errorCode: RunFailureCode | null;
}

/** The buckets that these tallies change, in the order in which their rows are to be locked. */
export function addUp(tallies: readonly Tally[]): Bucket[] {
  return sum(tallies, levels, ({ agentId, status, source }) => ({ agentId, status, source }));
}

/** The same, by all that calls can be told apart by. */
export function addUpBreakdown(tallies: readonly Tally[]): BreakdownBucket[] {
  return sum(tallies, breakdownLevels, (tally) => ({
    agentId: tally.agentId,
    status: tally.status,
    source: tally.source,
    promptVersionId: tally.promptVersionId,
    model: tally.model,
    apiKeyId: tally.apiKeyId,
    errorCode: tally.errorCode,
  }));
}

function sum<L extends Level | BreakdownLevel, By extends object>(
  tallies: readonly Tally[],
  at: readonly L[],
  by: (tally: Tally) => By,
): (By & Sums & { readonly level: L; readonly startMs: number })[] {
  const buckets = new Map<string, By & Sums & { readonly level: L; readonly startMs: number }>();
  for (const tally of tallies) {
    const own = by(tally);
    const name = Object.values(own).join(' ');
    for (const level of at) {
      const startMs = Math.floor(tally.executedAtMs / levelMs[level]) * levelMs[level];
      const place = `${tally.agentId} ${level} ${String(startMs).padStart(15, '0')} ${name}`;
      const bucket = buckets.get(place) ?? { ...own, level, startMs, ...nothing() };
      buckets.set(place, bucket);
      bucket.happened++;
      if (tally.recorded) bucket.recorded++;
      bucket.inputTokens += tally.inputTokens;
      bucket.outputTokens += tally.outputTokens;
      if (Number(tally.costUsd) !== 0) bucket.costsUsd.push(tally.costUsd);
      if (!tally.costKnown) bucket.costUnknown++;
      if (tally.latencyMs !== null) count(bucket.latency, latencyBin(tally.latencyMs));
    }
  }
  return [...buckets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bucket]) => bucket);
}

function nothing(): Sums {
  return {
    happened: 0,
    recorded: 0,
    inputTokens: 0,
    outputTokens: 0,
    costsUsd: [],
    costUnknown: 0,
    latency: [],
  };
}

/**
 * The bin of a latency: four to each doubling, so a percentile read from the bins is off by at most a tenth and half a millisecond.
 * Bin 0 holds 0 ms; the last possible one, for an hour, has number 88.
 */
export function latencyBin(latencyMs: number): number {
  return latencyMs <= 0 ? 0 : Math.min(95, 1 + Math.floor(4 * Math.log2(latencyMs)));
}

/** The latency in the middle of a bin, in milliseconds. */
export function binLatencyMs(bin: number): number {
  return bin === 0 ? 0 : Math.round(2 ** ((bin - 0.5) / 4));
}

/** The latency below which the share `p` (0–1) of all counted ones lies; null where none was counted. */
export function percentile(latency: readonly number[], p: number): number | null {
  const total = latency.reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  let rest = Math.max(1, Math.ceil(total * p));
  for (const [bin, n] of latency.entries()) {
    rest -= n;
    if (rest <= 0) return binLatencyMs(bin);
  }
  return null;
}

function count(bins: number[], bin: number): void {
  while (bins.length <= bin) bins.push(0);
  bins[bin] = (bins[bin] ?? 0) + 1;
}
