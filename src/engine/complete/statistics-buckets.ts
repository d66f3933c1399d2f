import {
  addUp,
  addUpBreakdown,
  type BreakdownBucket,
  type Bucket,
  byMinute,
  type Tally,
} from '../../core/history/statistics.ts';
import type { Send } from '../../db/pipeline.ts';
import { type Columns, rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { appendDeletedLabels, appendLabels } from './label-changes.ts';

/** Adds tallies to the statistics in the caller's transaction. These rows are the last locks of every transaction. */
export async function addStatistics(send: Send, tallies: readonly Tally[]): Promise<void> {
  await Promise.all([sendToBothTables(send, tallies, added), appendLabels(send, tallies)]);
}

/**
 * Subtracts deleted records from the recorded counts, not from what occurred. Locks rows in the order of `addStatistics`.
 * Skips missing buckets (rolled-up minutes) and buckets below the floor, which are cleared as a whole.
 */
export async function subtractStatistics(send: Send, tallies: readonly Tally[]): Promise<void> {
  await Promise.all([sendToBothTables(send, tallies, removed), appendDeletedLabels(send, tallies)]);
}

type AnyBucket = Bucket | BreakdownBucket;

async function sendToBothTables(
  send: Send,
  tallies: readonly Tally[],
  { buckets, breakdown }: BucketStatements,
): Promise<void> {
  if (tallies.length === 0) return;
  const cells = byMinute(tallies);
  await Promise.all([send(buckets, addUp(cells)), send(breakdown, addUpBreakdown(cells))]);
}

interface BucketStatements {
  readonly buckets: Statement<readonly Bucket[], unknown>;
  readonly breakdown: Statement<readonly BreakdownBucket[], unknown>;
}

const keyColumns: Columns<AnyBucket> = {
  agent_id: ['uuid', (one) => one.agentId],
  level: ['text', (one) => one.level],
  bucket: ['timestamptz', (one) => new Date(one.startMs).toISOString()],
  status: ['execution_status', (one) => one.status],
  source: ['execution_source', (one) => one.source],
};
const breakdownColumns: Columns<BreakdownBucket> = {
  prompt_version_id: ['uuid', (one) => one.promptVersionId],
  model: ['text', (one) => one.model],
  api_key_id: ['uuid', (one) => one.apiKeyId],
  error_code: ['text', (one) => one.errorCode],
};
/** PostgreSQL requires rectangular arrays of arrays, so the inner ones are sent as text. */
const addedColumns: Columns<AnyBucket> = {
  occurred: ['bigint', (one) => one.occurred],
  recorded: ['bigint', (one) => one.recorded],
  input_tokens: ['bigint', (one) => one.inputTokens],
  output_tokens: ['bigint', (one) => one.outputTokens],
  costs: ['text', (one) => `{${one.costsUsd.join(',')}}`],
  cost_unknown: ['bigint', (one) => one.costUnknown],
  latency: ['text', (one) => latencyText(one.latency)],
};
const removedColumns: Columns<AnyBucket> = { removed: ['bigint', (one) => one.recorded] };

/** From the lowest bin with a count to the highest. A subscript is one more than its bin. */
function latencyText(latency: readonly number[]): string {
  if (latency.length === 0) return '{}';
  const lowest = latency.findIndex((n) => n > 0);
  return `[${lowest + 1}:${latency.length}]={${latency.slice(lowest).join(',')}}`;
}

const ordinality = true;
const addedBuckets = rowSet<Bucket>('b', { ...keyColumns, ...addedColumns }, { ordinality });
const addedBreakdown = rowSet<BreakdownBucket>(
  'b',
  { ...keyColumns, ...addedColumns, ...breakdownColumns },
  { ordinality },
);

const bucketKey = sql`agent_id, level, bucket, status, source`;
const breakdownNames = sql`prompt_version_id, model, api_key_id, error_code`;
const sums = sql`occurred, recorded, input_tokens, output_tokens, cost_usd, cost_unknown, latency`;
const sumsOfRows = sql`occurred, recorded, input_tokens, output_tokens,
  (select coalesce(sum(cost), 0) from unnest(costs::numeric[]) as cost), cost_unknown, latency::bigint[]`;
const addToBucket = sql`occurred = s.occurred + excluded.occurred,
  recorded = s.recorded + excluded.recorded,
  input_tokens = s.input_tokens + excluded.input_tokens,
  output_tokens = s.output_tokens + excluded.output_tokens,
  cost_usd = s.cost_usd + excluded.cost_usd,
  cost_unknown = s.cost_unknown + excluded.cost_unknown,
  latency = add_counts(s.latency, excluded.latency)`;

const addBuckets = statement<readonly Bucket[]>('statistics-add')`
  insert into statistics as s (${bucketKey}, ${sums})
  select ${bucketKey}, ${sumsOfRows}
  from ${addedBuckets.table}
  order by ordinal
  on conflict (${bucketKey}) do update set ${addToBucket}`;

const addBreakdown = statement<readonly BreakdownBucket[]>('statistics-add-breakdown')`
  insert into breakdown as s (${bucketKey}, ${sums}, ${breakdownNames})
  select ${bucketKey}, ${sumsOfRows}, ${breakdownNames}
  from ${addedBreakdown.table}
  order by ordinal
  on conflict (${bucketKey}, ${breakdownNames}) do update set ${addToBucket}`;

const removedBuckets = rowSet<Bucket>('t', { ...keyColumns, ...removedColumns }, { ordinality });
const removedBreakdown = rowSet<BreakdownBucket>(
  't',
  { ...keyColumns, ...removedColumns, ...breakdownColumns },
  { ordinality },
);

// Locks the rows in their order first, because an update locks rows in the order of its plan.
const subtractBuckets = statement<readonly Bucket[]>('statistics-subtract')`
  with locked as materialized (
    select ${bucketKey}, t.removed
    from ${removedBuckets.table}
    join statistics s using (${bucketKey})
    where s.bucket >= (select at from history_floor)
    order by t.ordinal for update of s)
  update statistics s set recorded = s.recorded - locked.removed
  from locked
  where (s.agent_id, s.level, s.bucket, s.status, s.source)
    = (locked.agent_id, locked.level, locked.bucket, locked.status, locked.source)`;

const subtractBreakdown = statement<readonly BreakdownBucket[]>('statistics-subtract-breakdown')`
  with locked as materialized (
    select s.agent_id, s.level, s.bucket, s.status, s.source, s.prompt_version_id, s.model, s.api_key_id,
      s.error_code, t.removed
    from ${removedBreakdown.table}
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
    and s.api_key_id is not distinct from locked.api_key_id and s.error_code is not distinct from locked.error_code`;

const added: BucketStatements = { buckets: addBuckets, breakdown: addBreakdown };
const removed: BucketStatements = { buckets: subtractBuckets, breakdown: subtractBreakdown };
