import {
  addUp,
  addUpBreakdown,
  type BreakdownBucket,
  type Bucket,
  byMinute,
  type Tally,
} from '../../core/history/statistics.ts';
import type { Send, Statement, Value } from '../connection/pipeline.ts';
import { columnsOf } from '../connection/statements.ts';
import { appendLabels, appendRemovedLabels } from './label-changes.ts';

/** Adds tallies to the statistics in the caller's transaction. These rows are the last locks of every transaction. */
export async function addStatistics(send: Send, tallies: readonly Tally[]): Promise<void> {
  await Promise.all([
    sendToBothTables(send, tallies, [addBuckets, addBreakdown], addedOf),
    appendLabels(send, tallies),
  ]);
}

/**
 * Subtracts deleted records from the recorded counts, not from what occurred. Locks rows in the order of `addStatistics`.
 * Skips missing buckets (rolled-up minutes) and buckets below the floor, which are cleared as a whole.
 */
export async function subtractStatistics(send: Send, tallies: readonly Tally[]): Promise<void> {
  await Promise.all([
    sendToBothTables(send, tallies, [subtractBuckets, subtractBreakdown], removedOf),
    appendRemovedLabels(send, tallies),
  ]);
}

type Values = (buckets: readonly (Bucket | BreakdownBucket)[]) => Value[];

async function sendToBothTables(
  send: Send,
  tallies: readonly Tally[],
  [sum, breakdown]: readonly [sum: Statement, breakdown: Statement],
  valuesOf: Values,
): Promise<void> {
  if (tallies.length === 0) return;
  const cells = byMinute(tallies);
  const buckets = addUp(cells);
  const breakdownBuckets = addUpBreakdown(cells);
  await Promise.all([
    send(sum, [...keysOf(buckets), ...valuesOf(buckets)]),
    send(breakdown, [
      ...keysOf(breakdownBuckets),
      ...valuesOf(breakdownBuckets),
      ...columnsOf(breakdownBuckets, ['promptVersionId', 'model', 'apiKeyId', 'errorCode']),
    ]),
  ]);
}

const keysOf: Values = (buckets) => [
  ...columnsOf(buckets, ['agentId', 'level']),
  buckets.map((one) => new Date(one.startMs).toISOString()),
  ...columnsOf(buckets, ['status', 'source']),
];

const removedOf: Values = (buckets) => columnsOf(buckets, ['recorded']);

const addedOf: Values = (buckets) => [
  ...columnsOf(buckets, ['occurred', 'recorded', 'inputTokens', 'outputTokens']),
  // PostgreSQL requires rectangular arrays of arrays, so the inner ones are sent as text.
  buckets.map((one) => `{${one.costsUsd.join(',')}}`),
  buckets.map((one) => one.costUnknown),
  buckets.map((one) => latencyText(one.latency)),
];

/** From the lowest bin with a count to the highest. A subscript is one more than its bin. */
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
const addToBucket = `occurred = s.occurred + excluded.occurred,
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
    from unnest(${bucketArrays}) with ordinality as b (${bucketNames}, ordinal)
    order by ordinal
    on conflict (agent_id, level, bucket, status, source) do update set ${addToBucket}`,
};

const addBreakdown: Statement = {
  name: 'statistics-add-breakdown',
  text: `insert into breakdown as s (${bucketColumns}, prompt_version_id, model, api_key_id, error_code)
    select ${bucketSums}, prompt_version_id, model, api_key_id, error_code
    from unnest(${bucketArrays}, $13::uuid[], $14::text[], $15::uuid[], $16::text[])
      with ordinality as b (${bucketNames}, prompt_version_id, model, api_key_id, error_code, ordinal)
    order by ordinal
    on conflict (agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code)
      do update set ${addToBucket}`,
};

const removedArrays = `$1::uuid[], $2::text[], $3::timestamptz[], $4::execution_status[], $5::execution_source[],
  $6::bigint[]`;

// Locks the rows in their order first, because an update locks rows in the order of its plan.
const subtractBuckets: Statement = {
  name: 'statistics-subtract',
  text: `with locked as materialized (
      select s.agent_id, s.level, s.bucket, s.status, s.source, t.removed
      from unnest(${removedArrays}) with ordinality as t (agent_id, level, bucket, status, source, removed, ordinal)
      join statistics s using (agent_id, level, bucket, status, source)
      where s.bucket >= (select at from history_floor)
      order by t.ordinal for update of s)
    update statistics s set recorded = s.recorded - locked.removed
    from locked
    where (s.agent_id, s.level, s.bucket, s.status, s.source)
      = (locked.agent_id, locked.level, locked.bucket, locked.status, locked.source)`,
};

const subtractBreakdown: Statement = {
  name: 'statistics-subtract-breakdown',
  text: `with locked as materialized (
      select s.agent_id, s.level, s.bucket, s.status, s.source, s.prompt_version_id, s.model, s.api_key_id,
        s.error_code, t.removed
      from unnest(${removedArrays}, $7::uuid[], $8::text[], $9::uuid[], $10::text[]) with ordinality
        as t (agent_id, level, bucket, status, source, removed, prompt_version_id, model, api_key_id, error_code, ordinal)
      join breakdown s
        on (s.agent_id, s.level, s.bucket, s.status, s.source, s.prompt_version_id, s.model)
          = (t.agent_id, t.level, t.bucket, t.status, t.source, t.prompt_version_id, t.model)
        and s.api_key_id is not distinct from t.api_key_id and s.error_code is not distinct from t.error_code
      where s.bucket >= (select at from history_floor)
      order by t.ordinal for update of s)
    update breakdown s set recorded = s.recorded - locked.removed
    from locked
    where (s.agent_id, s.level, s.bucket, s.status, s.source, s.prompt_version_id, s.model)
        = (locked.agent_id, locked.level, locked.bucket, locked.status, locked.source, locked.prompt_version_id, locked.model)
      and s.api_key_id is not distinct from locked.api_key_id and s.error_code is not distinct from locked.error_code`,
};
