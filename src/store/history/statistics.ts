import {
  addUp,
  addUpBreakdown,
  type BreakdownBucket,
  type Bucket,
  byMinute,
  type Tally,
} from '../../core/history/statistics.ts';
import type { Send, Statement, Value } from '../connection/pipeline.ts';

/** Adds tallies to the statistics, in the caller's transaction. The rows are the last that a transaction locks. */
export async function addStatistics(send: Send, tallies: readonly Tally[]): Promise<void> {
  await sendBoth(send, tallies, [addBuckets, addBreakdown], addedOf);
}

/**
 * Takes deleted records out of what is recorded; what happened has happened. The rows are locked in the order in which
 * `addStatistics` locks them. A bucket that is not there (minutes are folded) is left alone, and so is one below the
 * floor: it is set to nothing as a whole, whatever was deleted one by one meanwhile.
 */
export async function subtractStatistics(send: Send, tallies: readonly Tally[]): Promise<void> {
  await sendBoth(send, tallies, [takeBuckets, takeBreakdown], takenOf);
}

type Values = (buckets: readonly (Bucket | BreakdownBucket)[]) => Value[];

async function sendBoth(
  send: Send,
  tallies: readonly Tally[],
  [sum, breakdown]: readonly [sum: Statement, breakdown: Statement],
  valuesOf: Values,
): Promise<void> {
  if (tallies.length === 0) return;
  const cells = byMinute(tallies);
  const buckets = addUp(cells);
  const broken = addUpBreakdown(cells);
  await Promise.all([
    send(sum, [...placesOf(buckets), ...valuesOf(buckets)]),
    send(breakdown, [
      ...placesOf(broken),
      ...valuesOf(broken),
      broken.map((one) => one.promptVersionId),
      broken.map((one) => one.model),
      broken.map((one) => one.apiKeyId),
      broken.map((one) => one.errorCode),
    ]),
  ]);
}

const placesOf: Values = (buckets) => [
  buckets.map((one) => one.agentId),
  buckets.map((one) => one.level),
  buckets.map((one) => new Date(one.startMs).toISOString()),
  buckets.map((one) => one.status),
  buckets.map((one) => one.source),
];

const takenOf: Values = (buckets) => [buckets.map((one) => one.recorded)];

const addedOf: Values = (buckets) => [
  buckets.map((one) => one.occurred),
  buckets.map((one) => one.recorded),
  buckets.map((one) => one.inputTokens),
  buckets.map((one) => one.outputTokens),
  // Arrays of arrays must be rectangular, so the inner ones travel as text.
  buckets.map((one) => `{${one.costsUsd.join(',')}}`),
  buckets.map((one) => one.costUnknown),
  buckets.map((one) => latencyText(one.latency)),
];

/** From the lowest bin that occurs to the highest; a bin's subscript is one more than its number. */
function latencyText(latency: readonly number[]): string {
  if (latency.length === 0) return '{}';
  const lowest = latency.findIndex((n) => n > 0);
  return `[${lowest + 1}:${latency.length}]={${latency.slice(lowest).join(',')}}`;
}

const bucketColumns = `agent_id, level, bucket, status, source,
  occurred, recorded, input_tokens, output_tokens, cost_usd, cost_unknown, latency`;
const bucketSums = `agent_id, level, bucket, status, source, occurred, recorded, input_tokens, output_tokens,
  (select coalesce(sum(cost), 0) from unnest(costs::numeric[]) as cost), cost_unknown, latency::bigint[]`;
const bucketArrays = `$1::uuid[], $2::text[], $3::timestamptz[], $4::execution_status[], $5::execution_source[],
  $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::bigint[],
  $12::text[]`;
const bucketNames = `agent_id, level, bucket, status, source, occurred, recorded, input_tokens,
  output_tokens, costs, cost_unknown, latency`;
const addedUp = `occurred = s.occurred + excluded.occurred,
  recorded = s.recorded + excluded.recorded,
  input_tokens = s.input_tokens + excluded.input_tokens,
  output_tokens = s.output_tokens + excluded.output_tokens,
  cost_usd = s.cost_usd + excluded.cost_usd,
  cost_unknown = s.cost_unknown + excluded.cost_unknown,
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
    from unnest(${bucketArrays}, $13::uuid[], $14::text[], $15::uuid[], $16::text[])
      with ordinality as b (${bucketNames}, prompt_version_id, model, api_key_id, error_code, place)
    order by place
    on conflict (agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code)
      do update set ${addedUp}`,
};

const takenArrays = `$1::uuid[], $2::text[], $3::timestamptz[], $4::execution_status[], $5::execution_source[],
  $6::bigint[]`;

// Locked in their order first: an update takes its rows in whatever order its plan finds them.
const takeBuckets: Statement = {
  name: 'statistics-take',
  text: `with held as materialized (
      select s.agent_id, s.level, s.bucket, s.status, s.source, t.taken
      from unnest(${takenArrays}) with ordinality as t (agent_id, level, bucket, status, source, taken, place)
      join statistics s using (agent_id, level, bucket, status, source)
      where s.bucket >= (select at from history_floor)
      order by t.place for update of s)
    update statistics s set recorded = s.recorded - held.taken
    from held
    where (s.agent_id, s.level, s.bucket, s.status, s.source)
      = (held.agent_id, held.level, held.bucket, held.status, held.source)`,
};

const takeBreakdown: Statement = {
  name: 'statistics-take-breakdown',
  text: `with held as materialized (
      select s.agent_id, s.level, s.bucket, s.status, s.source, s.prompt_version_id, s.model, s.api_key_id,
        s.error_code, t.taken
      from unnest(${takenArrays}, $7::uuid[], $8::text[], $9::uuid[], $10::text[]) with ordinality
        as t (agent_id, level, bucket, status, source, taken, prompt_version_id, model, api_key_id, error_code, place)
      join breakdown s
        on (s.agent_id, s.level, s.bucket, s.status, s.source, s.prompt_version_id, s.model)
          = (t.agent_id, t.level, t.bucket, t.status, t.source, t.prompt_version_id, t.model)
        and s.api_key_id is not distinct from t.api_key_id and s.error_code is not distinct from t.error_code
      where s.bucket >= (select at from history_floor)
      order by t.place for update of s)
    update breakdown s set recorded = s.recorded - held.taken
    from held
    where (s.agent_id, s.level, s.bucket, s.status, s.source, s.prompt_version_id, s.model)
        = (held.agent_id, held.level, held.bucket, held.status, held.source, held.prompt_version_id, held.model)
      and s.api_key_id is not distinct from held.api_key_id and s.error_code is not distinct from held.error_code`,
};
