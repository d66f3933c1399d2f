import type { ErasedValue } from '../../core/history/erased-value.ts';
import { levelMs, type Tally } from '../../core/history/statistics.ts';
import { arrayLiteral } from '../../db/array-literal.ts';
import { type Db, inTransaction, type Trx } from '../../db/database.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { recordHasLabel } from './erased-labels.ts';

/**
 * Statistics by user, tag and value of the metadata.
 *
 * An ended or deleted execution with labels appends one row to `label_changes`, in the same transaction. A background round
 * folds these rows into `label_counts`, many at once: counting five labels at the end of each execution would cost ten
 * times as much as its other statistics. Readers use the view `label_buckets`, which adds up both, so that every count is
 * exact at any time.
 *
 * Invariants: one transaction at a time folds or forgets, under an advisory lock. Folding deletes what it adds.
 */

/** Appends what these ended calls add. Calls without labels append nothing. */
export function appendLabels(send: Send, tallies: readonly Tally[]): Promise<unknown> {
  return append(send, tallies, 1);
}

/** Appends that these records are deleted. What occurred stays counted. */
export function appendDeletedLabels(send: Send, tallies: readonly Tally[]): Promise<unknown> {
  return append(send, tallies, 0);
}

async function append(send: Send, tallies: readonly Tally[], occurred: 0 | 1): Promise<void> {
  const labeled = tallies.filter(isLabeled);
  if (labeled.length > 0) await send(insertChanges, { labeled, occurred });
}

/** A refusal that is only counted has no labels in the statistics: anyone could fill them with names. */
function isLabeled({ labels, recorded }: Tally): boolean {
  return recorded && labels !== null && (labels.user ?? labels.tags ?? labels.metadata) !== null;
}

interface Changes {
  readonly labeled: readonly Tally[];
  readonly occurred: 0 | 1;
}

const changes = rowSet<Tally, Changes>(
  'c',
  {
    agent_id: ['uuid', (one) => one.agentId],
    bucket: [
      'timestamptz',
      ({ executedAtMs: ms }) => new Date(ms - (ms % levelMs.quarter)).toISOString(),
    ],
    status: ['execution_status', (one) => one.status],
    source: ['execution_source', (one) => one.source],
    prompt_version_id: ['uuid', (one) => one.promptVersionId],
    model: ['text', (one) => one.model],
    api_key_id: ['uuid', (one) => one.apiKeyId],
    error_code: ['text', (one) => one.errorCode],
    end_user: ['text', (one) => one.labels?.user],
    tags: ['text', (one) => one.labels?.tags && arrayLiteral(one.labels.tags)],
    metadata: ['json', (one) => one.labels?.metadata],
    input_tokens: ['bigint', (one) => one.inputTokens],
    output_tokens: ['bigint', (one) => one.outputTokens],
    cost_usd: ['numeric', (one) => one.costUsd],
    cost_unknown: ['smallint', (one) => (one.costKnown ? 0 : 1)],
    latency_ms: ['int', (one) => one.latencyMs],
  },
  { read: ({ labeled }) => labeled },
);

const dimensions = sql`status, source, prompt_version_id, model, api_key_id, error_code`;

const insertChanges = statement<Changes>('labels-append')`
  insert into label_changes (agent_id, bucket, ${dimensions}, end_user, tags, metadata, occurred, recorded,
    input_tokens, output_tokens, cost_usd, cost_unknown, latency_bin)
  select agent_id, bucket, ${dimensions}, end_user, tags::text[], metadata, ${({ occurred }) => occurred}::smallint,
    ${({ occurred }) => (occurred === 1 ? 1 : -1)}::smallint, input_tokens, output_tokens, cost_usd, cost_unknown,
    latency_bin(latency_ms)
  from ${changes.table}`;

/** Advisory lock: one transaction at a time folds or forgets. */
const labelsLock = 7_315_202_633;

/** Folds up to `limit` changes. Returns how many; 0 while another process folds. */
export function foldLabels(db: Db, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const { rows: locked } = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(${labelsLock}) as locked`.execute(trx);
    if (!locked[0]?.locked) return 0;
    const { rows } = await sql<{ folded: number }>`
      with batch as materialized (select ctid as at from label_changes limit ${limit}),
      deleted as (delete from label_changes where ctid = any(array(select at from batch))),
      folded as (
        insert into label_counts as s (agent_id, kind, name, value, label, level, bucket, ${dimensions}, ${sums}, latency)
        select agent_id, kind, name, value, label, level, bucket, ${dimensions}, sum(occurred), sum(recorded),
          sum(input_tokens), sum(output_tokens), sum(cost_usd), sum(cost_unknown), sum_counts(latency)
        from label_change_buckets where at = any(array(select at from batch))
        group by agent_id, kind, name, value, label, level, bucket, ${dimensions}
        on conflict (agent_id, label, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code)
          do update set occurred = s.occurred + excluded.occurred, recorded = s.recorded + excluded.recorded,
            input_tokens = s.input_tokens + excluded.input_tokens,
            output_tokens = s.output_tokens + excluded.output_tokens, cost_usd = s.cost_usd + excluded.cost_usd,
            cost_unknown = s.cost_unknown + excluded.cost_unknown, latency = add_counts(s.latency, excluded.latency))
      select count(*) as folded from batch`.execute(trx);
    return rows[0]?.folded ?? 0;
  });
}

const sums = sql`occurred, recorded, input_tokens, output_tokens, cost_usd, cost_unknown`;

/**
 * Forgets a user, a tag or a value of the metadata: what was counted stays counted, among the calls without it. A call that
 * had only this tag still counts as one with tags, since folded counts do not tell.
 * @param erased its `agentId` is null for all agents of the workspace
 */
export async function forgetLabel(
  trx: Trx,
  erased: ErasedValue & { readonly workspaceId: string; readonly agentId: string | null },
): Promise<void> {
  const { workspaceId, agentId, value, label } = erased;
  const kind = label ?? 'user';
  const name = erased.labelName ?? '';
  await sql`select pg_advisory_xact_lock(${labelsLock})`.execute(trx);
  const ofWorkspace = sql`select a.id from agents a
    where a.workspace_id = ${workspaceId} and (${agentId}::uuid is null or a.id = ${agentId})`;
  await sql`
    update label_changes e set ${forgotten(erased)}
    where agent_id in (${ofWorkspace}) and ${recordHasLabel(erased)}`.execute(trx);
  await sql`
    delete from label_counts s using (${ofWorkspace}) as a
    where s.agent_id = a.id and s.label = label_id(${kind}, ${name}, ${value}) and s.kind = ${kind}
      and s.name = ${name} and s.value = ${value}`.execute(trx);
}

function forgotten({ value, label, labelName }: ErasedValue) {
  switch (label) {
    case null:
      return sql`end_user = null`;
    case 'tag':
      return sql`tags = array_remove(tags, ${value})`;
    case 'metadata':
      return sql`metadata = (metadata::jsonb - ${labelName}::text)::json`;
  }
}
