import type { ExecutionSettings } from '../../core/agent/model-settings.ts';
import type { Retry } from '../../core/execution/outcome.ts';
import {
  type Claim,
  endSettings,
  type QueuedExecution,
  tokenSumMax,
} from '../../core/execution/queued-execution.ts';
import { statementTime } from '../../db/clock.ts';
import type { Db } from '../../db/database.ts';
import { type Columns, rowTable } from '../../db/row-set.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { settleReservations } from '../complete/settlements.ts';
import { type BelongingColumns, belongingColumns, belongingOf } from '../read/executions.ts';
import { modelSetupOf, type SetupRow, setupColumns, setupJoins } from './model-setup.ts';

/**
 * The queue of executions that have not ended. A row holds everything that the execution and its record need. Its end
 * deletes the row and inserts the record (`completion.ts`).
 *
 * States of a row
 *
 *     ready       no worker, no `available_at`, not without a slot: can be claimed
 *     delayed     `available_at` is set: waits for a retry, or was just released or granted a slot
 *     waiting     `has_slot` is false: waits for a slot of its agent (`maxConcurrency`)
 *     claimed     `worker` is set: covered by the lease of that worker
 *
 * Claims are fair between workspaces by virtual time: each execution gets a tag, and the lowest ready tag is claimed first.
 * Executions of one workspace have increasing tags, so a backlog in one workspace delays no other one.
 *
 * Invariants
 * - A claim locks the worker's row, so it claims nothing after the worker was swept (`workers.ts`).
 * - Each claim increments `attempt`. `worker` and `attempt` are the fence of every later end or release.
 * - Claims use `skip locked`, so concurrent claims never wait for each other and never get the same row.
 * - Only `clock_timestamp()` counts: `now()` is fixed within a transaction, and clocks of processes differ.
 *
 * Failure cases
 * - The worker dies after a claim: the sweep frees the row and counts a loss.
 * - The claim commits but its response is lost: the worker lists its claims (`leasedExecutions`) and releases unknown ones.
 */

const ready = sql`worker is null and available_at is null and has_slot is not false`;
/** The memory of what the caller sent: twice its text. Files are not compressed, so their size is known without reading them. */
const inputBytes = sql`
  2 * (octet_length(input_variables::text) + octet_length(settings::text) + coalesce(pg_column_size(file_data), 0))`;
/** Virtual time in microseconds. It follows the clock while nothing waits. */
const clockTag = sql`(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

/**
 * The claimed executions and the lowest tag that was ready before the claim, or the virtual time of the clock if none was.
 * `lowestTag` is null if the worker had no lease and therefore claimed nothing.
 */
export interface ClaimResult {
  readonly executions: QueuedExecution[];
  readonly lowestTag: number | null;
}

export interface ClaimRequest {
  readonly limit: number;
  /** Claims until the inputs have so many bytes. At least one execution is claimed. */
  readonly bytesMax: number;
  readonly fromTag: number;
}

/** Claims ready executions in the order of their tags, from `fromTag` on. */
export async function claimExecutions(
  db: Db,
  worker: string,
  request: ClaimRequest,
): Promise<ClaimResult> {
  return claim(
    db,
    { worker, bytesMax: request.bytesMax },
    sql`
    select id, tag, ${inputBytes} as bytes from execution_queue where ${ready} and tag >= ${request.fromTag}
    order by tag, id limit ${request.limit} for update skip locked`,
  );
}

/**
 * Claims up to `limit` ready executions for the reserved slots: one for each workspace that is not in `excluded`. It walks the
 * workspaces by id, starting after `after`, with one index lookup per workspace, however long its backlog is.
 */
export async function claimForOtherWorkspaces(
  db: Db,
  worker: string,
  request: ClaimRequest & { readonly excluded: readonly string[]; readonly after: string },
): Promise<QueuedExecution[]> {
  const { excluded, after, limit, bytesMax, fromTag } = request;
  const nextWorkspace = (than: Sql) => sql`
    (select q.workspace_id from execution_queue q
     where q.worker is null and q.available_at is null and q.has_slot is not false and q.workspace_id > ${than}
       and q.tag >= ${fromTag}
     order by q.workspace_id limit 1)`;
  const { executions } = await claim(
    db,
    { worker, bytesMax },
    sql`
    select id, tag, ${inputBytes} as bytes from execution_queue
    where ${ready} and id = any (array(
      with recursive walk as (
        select ${nextWorkspace(sql`${after}::uuid`)} as workspace_id
        union all
        select ${nextWorkspace(sql`walk.workspace_id`)} from walk where walk.workspace_id is not null)
      select (select q.id from execution_queue q
              where q.worker is null and q.available_at is null and q.has_slot is not false
                and q.workspace_id = walk.workspace_id and q.tag >= ${fromTag}
              order by q.tag, q.id limit 1)
      from walk
      where walk.workspace_id is not null and walk.workspace_id <> all (${excluded}::uuid[])
      limit ${limit}))
    order by tag, id for update skip locked`,
  );
  return executions;
}

type FromRow = Omit<
  QueuedExecution,
  | 'worker'
  | 'settings'
  | 'setup'
  | 'labels'
  | 'workflow'
  | 'batchLine'
  | 'storeBodies'
  | 'slotAgentId'
>;

interface ClaimedRow extends FromRow, SetupRow, BelongingColumns {
  readonly tag: number;
  readonly fileData: string | null;
  readonly settings: string;
}

async function claim(
  db: Db,
  { worker, bytesMax }: { readonly worker: string; readonly bytesMax: number },
  picked: Sql,
): Promise<ClaimResult> {
  const { rows } = await sql<(ClaimedRow | { id: null }) & { clockTag: number; hasLease: boolean }>`
    with me as materialized (
      select id from workers where id = ${worker} and lease_until > clock_timestamp() for key share),
    picked as materialized (${picked}),
    fitting as (
      select id, bytes, sum(bytes) over (order by tag, id) - bytes as bytes_before from picked),
    claimed as (
      update execution_queue q set worker = me.id, attempt = q.attempt + 1,
        started_at = coalesce(q.started_at, clock_timestamp())
      from fitting, me
      where q.id = fitting.id and (fitting.bytes_before < ${bytesMax}::float8 or fitting.bytes_before = 0)
      returning q.*, fitting.bytes)
    select ${clockTag} as clock_tag, exists (select from me) as has_lease, claims.* from (values (1)) as always left join (
      select e.id, e.tag, e.workspace_id, e.agent_id, e.attempt, e.failures, e.losses,
        e.rejections, e.wait_code, e.emptied, e.mismatch, e.turns,
        e.failures > 0 or e.rejections > 0 or e.earlier_attempts > 0 or not e.spent_known as called,
        greatest(0, extract(epoch from clock_timestamp() - e.started_at) * 1000)::float8 as elapsed_ms,
        e.source, e.prompt_version_id, e.model, e.api_key_id, e.temperature, e.input_variables,
        e.file_data, e.settings, e.bytes as input_bytes, (e.spent_usd + e.kept_usd)::text as spent_usd, e.call_bound_usd,
        (e.reservations -> 0 ->> 'usd') as reserved_usd,
        e.reservations is null and exists (select from budgets b where b.workspace_id = e.workspace_id and b.enabled)
          or exists (
            select from workflow_runs r where r.id = e.workflow_run_id and r.max_cost_usd is not null
              and not coalesce(e.reservations, '[]') @> jsonb_build_array(jsonb_build_object('budgetId', r.id))) as must_reserve,
        ${belongingColumns}, ${setupColumns}
      from claimed e
      ${setupJoins(sql`e.workspace_id`, sql`e.model`)}) as claims on true`.execute(db);
  const claimed = rows.filter((row) => row.id !== null);
  return {
    executions: claimed.map((row) => queuedExecutionOf(row, worker)),
    lowestTag: rows[0]?.hasLease
      ? Math.min(...claimed.map(({ tag }) => tag), rows[0].clockTag)
      : null,
  };
}

function queuedExecutionOf(row: ClaimedRow, worker: string): QueuedExecution {
  const settings: ExecutionSettings = JSON.parse(row.settings);
  return {
    ...row,
    ...endSettings(row.agentId, settings),
    ...{ worker, settings, setup: modelSetupOf(row) },
    ...belongingOf(row),
  };
}

/** The maximum number of delayed executions per promotion. */
export const promotedMax = 1_000;

/**
 * Makes delayed executions ready when they are due. With `withinMs`, only those that became due that recently.
 *
 * A retry must not queue behind the backlog of its workspace, so it is *promoted* to a second queue at the front of virtual
 * time. Promoted executions of a workspace get increasing tags, so at most one of them precedes each of its other
 * executions. An execution that was granted a slot is promoted too, unless the last execution in its workspace's queue
 * belongs to the same agent: then it simply goes next.
 */
export async function promoteDelayed(
  db: Db,
  { withinMs, fromTag }: { withinMs: number | null; fromTag: number },
): Promise<number> {
  const { rowCount } = await sql`
    with due as materialized (
      select id, workspace_id, agent_id, attempt, available_at from execution_queue
      where available_at <= ${statementTime}
        and available_at > coalesce(
          ${statementTime} - ${withinMs}::float8 * interval '1 millisecond', '-infinity')
      order by available_at limit ${promotedMax} for update skip locked),
    queues as materialized (
      select workspace_id, last.tag as last_tag, last.agent_id as last_agent_id,
        (select max(q.tag) from execution_queue q where q.workspace_id = w.workspace_id and q.promoted
          and ${ready} and q.tag >= ${fromTag}) as promoted_tag
      from (select distinct workspace_id from due) as w left join lateral (
        select q.tag, q.agent_id from execution_queue q where q.workspace_id = w.workspace_id
          and ${ready} and q.tag >= ${fromTag}
        order by q.tag desc limit 1) as last on true),
    chosen as (
      select due.id, due.available_at, queues.*,
        due.attempt > 0 or due.agent_id is distinct from queues.last_agent_id as promoted
      from due join queues using (workspace_id)),
    ordered as (
      select id, promoted, case when promoted then promoted_tag else last_tag end as after_tag,
        row_number() over (partition by workspace_id, promoted order by available_at, id) as ordinal
      from chosen)
    update execution_queue q set available_at = null, promoted = ordered.promoted,
      tag = ordered.ordinal + greatest(ordered.after_tag, coalesce(
        (select min(tag) from execution_queue where ${ready} and tag >= ${fromTag}), ${clockTag}))
    from ordered where q.id = ordered.id`.execute(db);
  return rowCount;
}

/** Returns an execution to the queue. The fence makes it a no-op if another worker has claimed the execution since. */
export type Release = Pick<QueuedExecution, 'id'> & Claim & Omit<Retry, 'kind'>;

const releaseColumns: Columns<Release> = {
  id: ['uuid', (one) => one.id],
  worker: ['uuid', (one) => one.worker],
  attempt: ['int', (one) => one.attempt],
  delay_ms: ['float8', (one) => one.delayMs],
  failed: ['jsonb', (one) => one.failed && JSON.stringify(one.failed)],
  rejected: ['bool', (one) => one.rejected],
  mismatch: ['text', (one) => one.mismatch],
  fallback: ['text', (one) => one.fallback],
  wait_code: ['text', (one) => one.waitCode],
  unstarted: ['bool', (one) => one.unstarted],
  input_tokens: ['int', (one) => one.spent.inputTokens],
  output_tokens: ['int', (one) => one.spent.outputTokens],
  usd: ['numeric', (one) => one.spent.costUsd],
  known: ['bool', (one) => one.spent.costKnown],
  kept_usd: ['numeric', (one) => one.spent.keptUsd],
  source: ['text', (one) => one.spent.costSource],
  price_id: ['int', (one) => one.spent.priceId],
};

/** SQL: whether the call of this release was sent, or its successor has another model. */
const endsReservation = sql`(released.failed is not null or not released.known or released.fallback is not null)`;

export async function releaseExecutions(db: Db, releases: readonly Release[]): Promise<void> {
  await sql`
    with released as materialized (
      select q.id, r.delay_ms, r.failed, r.rejected, r.mismatch, r.fallback, r.wait_code, r.unstarted, r.input_tokens,
        r.output_tokens, r.usd, r.known, r.source, r.price_id, q.reservations, q.attempt, r.kept_usd
      from execution_queue q
      join ${rowTable('r', releaseColumns, releases)}
        on q.id = r.id and q.worker = r.worker and q.attempt = r.attempt
      order by q.id for update of q),
    -- A call that was not sent, or that did no work, keeps what is reserved for the next one.
    settled as (${settleReservations(sql`released`, {
      ...{ id: sql`id`, attempt: sql`attempt`, usd: sql`usd`, isKnown: sql`known` },
      isSent: sql`failed is not null or not known`,
    })}
      where ${endsReservation})
    update execution_queue q set worker = null, wait_code = released.wait_code,
      reservations = case when ${endsReservation} then null else q.reservations end,
      overrun_usd = q.overrun_usd + case when ${endsReservation} and known
        then greatest(0, usd - (released.reservations -> 0 ->> 'usd')::numeric) else 0 end,
      model = coalesce(released.fallback, q.model),
      attempt_list = case when released.failed is null then q.attempt_list
        else coalesce(q.attempt_list, '[]') || released.failed end,
      -- They count for each model.
      failures = case when released.fallback is null then q.failures + (released.failed is not null)::int else 0 end,
      earlier_attempts = q.earlier_attempts
        + case when released.fallback is null then 0 else q.failures + (released.failed is not null)::int end,
      rejections = case when released.fallback is null
        then least(q.rejections + released.rejected::int, 32767) else 0 end,
      mismatch = case when released.fallback is null then coalesce(released.mismatch, q.mismatch) end,
      emptied = released.fallback is null
        and (q.emptied or coalesce(released.failed ->> 'errorCode' = 'EMPTY_OUTPUT', false)),
      started_at = case when not released.unstarted then q.started_at end,
      spent_input_tokens = least(q.spent_input_tokens::bigint + released.input_tokens, ${tokenSumMax}),
      spent_output_tokens = least(q.spent_output_tokens::bigint + released.output_tokens, ${tokenSumMax}),
      spent_usd = q.spent_usd + released.usd, kept_usd = q.kept_usd + released.kept_usd,
      spent_known = q.spent_known and released.known,
      spent_source = coalesce(released.source, q.spent_source),
      spent_price_id = case when released.source is null then q.spent_price_id else released.price_id end,
      available_at = clock_timestamp() + released.delay_ms * interval '1 millisecond'
    from released where q.id = released.id`.execute(db);
}

/** Writes the bound of the next call of a model; false if the claim is over. */
export async function writeCallBound(
  db: Db,
  { id, worker, attempt }: Pick<QueuedExecution, 'id'> & Claim,
  boundUsd: string,
): Promise<boolean> {
  const { rowCount } = await sql`
    update execution_queue set call_bound_usd = ${boundUsd}
    where id = ${id} and worker = ${worker} and attempt = ${attempt}`.execute(db);
  return rowCount > 0;
}

/** The executions that this worker has claimed, according to the database. */
export async function leasedExecutions(
  db: Db,
  worker: string,
): Promise<{ id: string; attempt: number }[]> {
  const { rows } = await sql<{ id: string; attempt: number }>`
    select id, attempt from execution_queue where worker = ${worker}`.execute(db);
  return rows;
}

/** For metrics: the number of unclaimed executions and the age of the oldest in milliseconds. */
export async function queueDepth(db: Db): Promise<{ depth: number; oldestMs: number }> {
  const { rows } = await sql<{ depth: number; oldestMs: number }>`
    select (select count(*) from execution_queue where worker is null) as depth,
      coalesce((select (extract(epoch from clock_timestamp() - executed_at) * 1000)::float8
        from execution_queue where ${ready} order by id limit 1), 0) as oldest_ms`.execute(db);
  return rows[0] ?? { depth: 0, oldestMs: 0 };
}
