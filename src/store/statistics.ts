import { sql } from 'kysely';
import {
  addUp,
  type BreakdownBucket,
  type Bucket,
  breakDown,
  type Level,
  type Tally,
} from '../core/statistics.ts';
import type { Db } from './db.ts';
import type { Send, Statement } from './pipeline.ts';

/** Adds tallies to the statistics, in the caller's transaction. The rows are the last that a transaction locks. */
export async function addStatistics(send: Send, tallies: readonly Tally[]): Promise<void> {
  if (tallies.length === 0) return;
  const buckets = addUp(tallies);
  const broken = breakDown(tallies);
  await Promise.all([
    send(addBuckets, bucketValues(buckets)),
    send(addBreakdown, [
      ...bucketValues(broken),
      broken.map((one) => one.promptVersionId),
      broken.map((one) => one.model),
      broken.map((one) => one.apiKeyId),
      broken.map((one) => one.errorCode),
    ]),
  ]);
}

function bucketValues(buckets: readonly (Bucket | BreakdownBucket)[]): unknown[] {
  return [
    buckets.map((one) => one.agentId),
    buckets.map((one) => one.level),
    buckets.map((one) => new Date(one.startMs).toISOString()),
    buckets.map((one) => one.status),
    buckets.map((one) => one.source),
    buckets.map((one) => one.happened),
    buckets.map((one) => one.recorded),
    buckets.map((one) => one.inputTokens),
    buckets.map((one) => one.outputTokens),
    // Arrays of arrays must be rectangular, so the inner ones travel as text.
    buckets.map((one) => `{${one.costsUsd.join(',')}}`),
    buckets.map((one) => latencyText(one.latency)),
  ];
}

/** From the lowest bin that occurs to the highest; a bin's subscript is one more than its number. */
function latencyText(latency: readonly number[]): string {
  if (latency.length === 0) return '{}';
  const lowest = latency.findIndex((n) => n > 0);
  return `[${lowest + 1}:${latency.length}]={${latency.slice(lowest).join(',')}}`;
}

const bucketColumns = `agent_id, level, bucket, status, source,
  happened, recorded, input_tokens, output_tokens, cost_usd, latency`;
const bucketSums = `agent_id, level, bucket, status, source, happened, recorded, input_tokens, output_tokens,
  (select coalesce(sum(cost), 0) from unnest(costs::numeric[]) as cost), latency::bigint[]`;
const bucketArrays = `$1::uuid[], $2::text[], $3::timestamptz[], $4::execution_status[], $5::execution_source[],
  $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[]`;
const bucketNames = `agent_id, level, bucket, status, source, happened, recorded, input_tokens,
  output_tokens, costs, latency`;
const addedUp = `happened = s.happened + excluded.happened,
  recorded = s.recorded + excluded.recorded,
  input_tokens = s.input_tokens + excluded.input_tokens,
  output_tokens = s.output_tokens + excluded.output_tokens,
  cost_usd = s.cost_usd + excluded.cost_usd,
  latency = add_counts(s.latency, excluded.latency)`;

const addBuckets: Statement = {
  name: 'statistics-add',
  text: `insert into statistics as s (${bucketColumns})
    select ${bucketSums}
    from unnest(${bucketArrays}) with ordinality as b (${bucketNames}, place)
    order by place
    on conflict (agent_id, level, bucket, status, source) do update set ${addedUp}`,
};

const addBreakdown: Statement = {
  name: 'statistics-add-breakdown',
  text: `insert into breakdown as s (${bucketColumns}, prompt_version_id, model, api_key_id, error_code)
    select ${bucketSums}, prompt_version_id, model, api_key_id, error_code
    from unnest(${bucketArrays}, $12::uuid[], $13::text[], $14::uuid[], $15::text[])
      with ordinality as b (${bucketNames}, prompt_version_id, model, api_key_id, error_code, place)
    order by place
    on conflict (agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code)
      do update set ${addedUp}`,
};

export interface StatisticsRow {
  readonly bucket: Date;
  readonly status: string;
  readonly source: string;
  readonly happened: number;
  readonly recorded: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  /** How many there are in each bin. */
  readonly latency: number[];
}

/** The buckets of one agent that begin in `[from, to]`, oldest first, at most `limit` of them. */
export async function readStatistics(
  db: Db,
  question: { agentId: string; level: Level; from: Date; to: Date; limit: number },
): Promise<StatisticsRow[]> {
  const { rows } = await sql<StoredLatency & Omit<StatisticsRow, 'latency'>>`
    select bucket, status::text as status, source::text as source, happened, recorded,
      input_tokens, output_tokens, cost_usd, ${storedLatency}
    from statistics
    where agent_id = ${question.agentId} and level = ${question.level}
      and bucket between ${question.from} and ${question.to}
    order by bucket, status, source
    limit ${question.limit}`.execute(db);
  return rows.map((row) => ({ ...row, latency: latencyOf(row) }));
}

interface StoredLatency {
  readonly latency: (number | null)[];
  readonly lowest: number | null;
}

const storedLatency = sql.raw(
  'latency::float8[] as latency, array_lower(latency, 1) - 1 as lowest',
);

function latencyOf({ latency, lowest }: StoredLatency): number[] {
  return [...new Array<number>(lowest ?? 0).fill(0), ...latency.map((n) => n ?? 0)];
}
