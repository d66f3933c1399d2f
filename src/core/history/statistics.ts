import type { EndStatus, StoredSource } from '../execution/execution.ts';
import type { ExecutionErrorCode } from '../failure.ts';
import type { Labels } from '../labels.ts';

/** Statistics: sums per agent, time bucket, status and source, and latency bins. */

export const levels = ['minute', 'hour', 'day'] as const;
export type Level = (typeof levels)[number];

/** The levels of the breakdown. Days of every time zone begin at a quarter of an hour in UTC. */
export const breakdownLevels = ['quarter', 'day'] as const;
export type BreakdownLevel = (typeof breakdownLevels)[number];

export const levelMs: Record<Level | BreakdownLevel, number> = {
  minute: 60_000,
  quarter: 900_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** The dimensions of the breakdown. */
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

/** A grouping by label: at most one per query, because an execution may have several. */
export type LabelGrouping = 'user' | 'tag' | `metadata.${string}`;

/** What one ended or refused call adds to the statistics. */
export interface Tally {
  readonly agentId: string;
  readonly executedAtMs: number;
  readonly status: EndStatus;
  readonly source: StoredSource;
  readonly promptVersionId: string;
  readonly model: string;
  readonly apiKeyId: string | null;
  readonly errorCode: ExecutionErrorCode | null;
  readonly labels: Labels | null;
  /** False for a refusal without a record. */
  readonly recorded: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  readonly costKnown: boolean;
  /** Null for an execution that never started; it is not in the latency bins. */
  readonly latencyMs: number | null;
}

interface Sums {
  occurred: number;
  recorded: number;
  inputTokens: number;
  outputTokens: number;
  /** One decimal text per tally: they are added up as `numeric`, never as floats. */
  costsUsd: string[];
  /** Executions whose cost is unknown in whole or in part. */
  costUnknown: number;
  /** The count of each bin. */
  latency: number[];
}

type Key = Pick<Tally, 'agentId' | 'status' | 'source'> & { readonly startMs: number };
type BreakdownKey = Key & Pick<Tally, 'promptVersionId' | 'model' | 'apiKeyId' | 'errorCode'>;

/** Executions of one minute with equal dimensions: most that end together. */
export type Cell = BreakdownKey & Sums;

export interface Bucket extends Key, Sums {
  readonly level: Level;
}

export interface BreakdownBucket extends BreakdownKey, Sums {
  readonly level: BreakdownLevel;
}

export function byMinute(tallies: readonly Tally[]): Cell[] {
  const cells = new Map<string, Cell>();
  for (const tally of tallies) {
    const { agentId, status, source, promptVersionId, model, apiKeyId, errorCode } = tally;
    const startMs = startOf('minute', tally.executedAtMs);
    const name = `${agentId} ${startMs} ${status} ${source} ${promptVersionId} ${model} ${apiKeyId} ${errorCode}`;
    let cell = cells.get(name);
    if (!cell) {
      const own = { agentId, startMs, status, source, promptVersionId, model, apiKeyId, errorCode };
      cell = { ...own, ...noSums() };
      cells.set(name, cell);
    }
    cell.occurred++;
    if (tally.recorded) cell.recorded++;
    cell.inputTokens += tally.inputTokens;
    cell.outputTokens += tally.outputTokens;
    if (Number(tally.costUsd) !== 0) cell.costsUsd.push(tally.costUsd);
    if (!tally.costKnown) cell.costUnknown++;
    if (tally.latencyMs !== null) count(cell.latency, latencyBin(tally.latencyMs), 1);
  }
  return [...cells.values()];
}

/** The buckets that these cells change, in lock order. */
export function addUp(cells: readonly Cell[]): Bucket[] {
  return sum(cells, levels, ({ agentId, status, source }) => ({ agentId, status, source }));
}

/** As `addUp`, by every dimension. */
export function addUpBreakdown(cells: readonly Cell[]): BreakdownBucket[] {
  return sum(cells, breakdownLevels, (cell) => ({
    agentId: cell.agentId,
    status: cell.status,
    source: cell.source,
    promptVersionId: cell.promptVersionId,
    model: cell.model,
    apiKeyId: cell.apiKeyId,
    errorCode: cell.errorCode,
  }));
}

function sum<L extends Level | BreakdownLevel, By extends object>(
  cells: readonly Cell[],
  at: readonly L[],
  by: (cell: Cell) => By,
): (By & Sums & { readonly level: L; readonly startMs: number })[] {
  const buckets = new Map<string, By & Sums & { readonly level: L; readonly startMs: number }>();
  for (const cell of cells) {
    const own = by(cell);
    const name = Object.values(own).join(' ');
    for (const level of at) {
      const startMs = startOf(level, cell.startMs);
      const key = `${cell.agentId} ${level} ${String(startMs).padStart(15, '0')} ${name}`;
      const bucket = buckets.get(key) ?? { ...own, level, startMs, ...noSums() };
      buckets.set(key, bucket);
      add(bucket, cell);
    }
  }
  return [...buckets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bucket]) => bucket);
}

function startOf(level: Level | BreakdownLevel, atMs: number): number {
  return Math.floor(atMs / levelMs[level]) * levelMs[level];
}

function add(sums: Sums, more: Sums): void {
  sums.occurred += more.occurred;
  sums.recorded += more.recorded;
  sums.inputTokens += more.inputTokens;
  sums.outputTokens += more.outputTokens;
  sums.costUnknown += more.costUnknown;
  for (const cost of more.costsUsd) sums.costsUsd.push(cost);
  for (const [bin, n] of more.latency.entries()) count(sums.latency, bin, n);
}

function noSums(): Sums {
  return {
    occurred: 0,
    recorded: 0,
    inputTokens: 0,
    outputTokens: 0,
    costsUsd: [],
    costUnknown: 0,
    latency: [],
  };
}

/**
 * The bin of a latency: four bins per doubling, so a percentile read from the bins is off by at most a tenth plus half
 * a millisecond. Bin 0 holds 0 ms; an hour falls into bin 88.
 */
export function latencyBin(latencyMs: number): number {
  return latencyMs <= 0 ? 0 : Math.min(95, 1 + Math.floor(4 * Math.log2(latencyMs)));
}

/** The latency in the middle of a bin, in milliseconds. */
export function binLatencyMs(bin: number): number {
  return bin === 0 ? 0 : Math.round(2 ** ((bin - 0.5) / 4));
}

/** The latency below which the share `p` (0–1) of all counted executions lies; null if none was counted. */
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

function count(bins: number[], bin: number, n: number): void {
  while (bins.length <= bin) bins.push(0);
  bins[bin] = (bins[bin] ?? 0) + n;
}
