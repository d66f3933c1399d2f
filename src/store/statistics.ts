import { sql } from 'kysely';
import { addUp, type Level, type Tally } from '../core/statistics.ts';
import type { Db } from './db.ts';
import type { Send, Statement } from './pipeline.ts';

/** Adds tallies to the statistics, in the caller's transaction. The rows are the last that a transaction locks. */
export async function addStatistics(send: Send, tallies: readonly Tally[]): Promise<void> {
  const buckets = addUp(tallies);
  if (buckets.length === 0) return;
  await send(addBuckets, [
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
    buckets.map((one) => `{${one.latency.join(',')}}`),
  ]);
}

const addBuckets: Statement = {
  name: 'statistics-add',
  text: `insert into statistics as s (agent_id, level, bucket, status, source,
      happened, recorded, input_tokens, output_tokens, cost_usd, latency)
    select agent_id, level, bucket, status, source, happened, recorded, input_tokens, output_tokens,
      (select coalesce(sum(cost), 0) from unnest(costs::numeric[]) as cost), latency::bigint[]
    from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::execution_status[], $5::execution_source[],
      $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[])
      with ordinality as b (agent_id, level, bucket, status, source, happened, recorded,
        input_tokens, output_tokens, costs, latency, place)
    order by place
    on conflict (agent_id, level, bucket, status, source) do update set
      happened = s.happened + excluded.happened,
      recorded = s.recorded + excluded.recorded,
      input_tokens = s.input_tokens + excluded.input_tokens,
      output_tokens = s.output_tokens + excluded.output_tokens,
      cost_usd = s.cost_usd + excluded.cost_usd,
      latency = add_counts(s.latency, excluded.latency)`,
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
  readonly latency: number[];
}

/** The buckets of one agent that begin in `[from, to]`, oldest first, at most `limit` of them. */
export async function readStatistics(
  db: Db,
  question: { agentId: string; level: Level; from: Date; to: Date; limit: number },
): Promise<StatisticsRow[]> {
  const { rows } = await sql<StatisticsRow>`
    select bucket, status::text as status, source::text as source, happened, recorded,
      input_tokens, output_tokens, cost_usd, latency::float8[] as latency
    from statistics
    where agent_id = ${question.agentId} and level = ${question.level}
      and bucket between ${question.from} and ${question.to}
    order by bucket, status, source
    limit ${question.limit}`.execute(db);
  return rows;
}
