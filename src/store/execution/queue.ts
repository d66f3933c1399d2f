import { sql } from 'kysely';
import type { ExecutionSettings } from '../../core/agent/model-settings.ts';
import type { AcceptedAs, QueuedExecution, Spent } from '../../core/execution/queued-execution.ts';
import { statementTime } from '../connection/clock.ts';
import type { Db } from '../connection/database.ts';
import { type SetupRow, setupColumns, setupJoins, modelSetupOf } from './model-setup.ts';

/**
 * The queue of unfinished runs. A row is *ready* (nobody's, not delayed, not waiting for a slot), *delayed*
 * (`available_at`), *waiting* for one of its agent's slots, or *leased* (`worker`).
 * Only `clock_timestamp()` decides: `now()` stands still in a transaction, and a process's clock is nobody's.
 */

const ready = sql`worker is null and available_at is null and has_slot is not false`;
/** While nothing waits, virtual time runs with the clock (microseconds). */
const clockTag = sql`(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

/**
 * Runs that were claimed, and the lowest tag that waited before; where none did, the virtual time of the clock, and null
 * where the worker had no lease, so that nothing was looked for.
 */
export interface Claimed {
  readonly runs: QueuedExecution[];
  readonly lowestTag: number | null;
}

/**
 * Claims up to `limit` ready runs in order of their tags, from `fromTag` on. The worker's own row is held meanwhile:
 * where its lease has been taken away, nothing is claimed.
 */
export async function claimExecutions(
  db: Db,
  worker: string,
  question: { limit: number; fromTag: number },
): Promise<Claimed> {
  return claim(
    db,
    worker,
    sql`
    select id from execution_queue where ${ready} and tag >= ${question.fromTag}
    order by tag, id limit ${question.limit} for update skip locked`,
  );
}

/**
 * Claims up to `limit` ready runs, one for each workspace that is not in `held`: what the reserved slots are for.
 * The workspaces are walked in the order of their ids, beginning after `after`, by skipping through the index: a long
 * backlog costs one step.
 */
export async function claimForOtherWorkspaces(
  db: Db,
  worker: string,
  question: { held: readonly string[]; after: string; limit: number; fromTag: number },
): Promise<QueuedExecution[]> {
  const { held, after, limit, fromTag } = question;
  const nextWorkspace = (than: ReturnType<typeof sql>) => sql`
    (select q.workspace_id from execution_queue q
     where q.worker is null and q.available_at is null and q.has_slot is not false and q.workspace_id > ${than}
       and q.tag >= ${fromTag}
     order by q.workspace_id limit 1)`;
  const { runs } = await claim(
    db,
    worker,
    sql`
    select id from execution_queue
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
      where walk.workspace_id is not null and walk.workspace_id <> all (${held}::uuid[])
      limit ${limit}))
    order by tag, id for update skip locked`,
  );
  return runs;
}

interface ClaimedRow extends SetupRow, AcceptedAs {
  readonly id: string;
  readonly tag: number;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly attempt: number;
  readonly failures: number;
  readonly losses: number;
  readonly called: boolean;
  readonly elapsedMs: number;
  readonly temperature: number | null;
  readonly inputVariables: string;
  readonly settings: string;
}

/** The model and its workspace as they stand in a claim. */
const setup = {
  columns: sql.raw(setupColumns),
  joins: sql.raw(setupJoins('c.workspace_id', 'e.model')),
};

async function claim(db: Db, worker: string, picked: ReturnType<typeof sql>): Promise<Claimed> {
  const { rows } = await sql<(ClaimedRow | { id: null }) & { clockTag: number; held: boolean }>`
    with me as materialized (
      select id from workers where id = ${worker} and lease_until > clock_timestamp() for key share),
    picked as materialized (${picked}),
    claimed as (
      update execution_queue q set worker = me.id, attempt = q.attempt + 1,
        started_at = coalesce(q.started_at, clock_timestamp())
      from picked, me where q.id = picked.id
      returning q.*)
    select ${clockTag} as clock_tag, exists (select from me) as held, runs.* from (values (1)) as always left join (
      select c.id, c.tag, c.workspace_id, c.agent_id, c.attempt, c.failures, c.losses,
        c.failures > 0 or not c.spent_known as called,
        greatest(0, extract(epoch from clock_timestamp() - c.started_at) * 1000)::float8 as elapsed_ms,
        e.source, e.prompt_version_id, e.model, e.api_key_id, e.temperature, e.input_variables, e.settings,
        ${setup.columns}
      from claimed c cross join lateral (
        select source, prompt_version_id, model, api_key_id, temperature, input_variables, settings
        from executions where id = c.id offset 0) as e
      ${setup.joins}) as runs on true`.execute(db);
  const claimed = rows.filter((row) => row.id !== null);
  return {
    runs: claimed.map((row) => queuedExecutionOf(row, worker)),
    lowestTag: rows[0]?.held ? Math.min(...claimed.map(({ tag }) => tag), rows[0].clockTag) : null,
  };
}

function queuedExecutionOf(row: ClaimedRow, worker: string): QueuedExecution {
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    agentId: row.agentId,
    worker,
    attempt: row.attempt,
    failures: row.failures,
    losses: row.losses,
    called: row.called,
    source: row.source,
    promptVersionId: row.promptVersionId,
    model: row.model,
    apiKeyId: row.apiKeyId,
    temperature: row.temperature,
    setup: modelSetupOf(row),
    inputVariables: row.inputVariables,
    settings: JSON.parse(row.settings) as ExecutionSettings,
    elapsedMs: row.elapsedMs,
  };
}

/** How many delayed runs are made ready at a time. */
export const promotedMax = 1_000;

/**
 * Makes delayed runs whose time has come ready, where `withinMs` is given only those whose time came so lately.
 *
 * What has been tried before does not queue up again behind its workspace's backlog: it is *promoted* to a second line at
 * the front of virtual time. Each goes on after the last of that line, however many looks it came from, so a workspace has
 * at most one of them for each of its other runs. A run that got a slot is promoted too, so that it need not wait for
 * what other agents queued since; where the last one of its workspace is of its own agent, it is simply the next.
 */
export async function promoteDelayed(
  db: Db,
  { withinMs, fromTag }: { withinMs: number | null; fromTag: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    with due as materialized (
      select id, workspace_id, agent_id, attempt, available_at from execution_queue
      where available_at <= ${statementTime}
        and available_at > coalesce(
          ${statementTime} - ${withinMs}::float8 * interval '1 millisecond', '-infinity')
      order by available_at limit ${promotedMax} for update skip locked),
    lines as materialized (
      select workspace_id, last.tag as last_tag, last.agent_id as last_agent_id,
        (select max(q.tag) from execution_queue q where q.workspace_id = w.workspace_id and q.promoted
          and ${ready} and q.tag >= ${fromTag}) as promoted_tag
      from (select distinct workspace_id from due) as w left join lateral (
        select q.tag, q.agent_id from execution_queue q where q.workspace_id = w.workspace_id
          and ${ready} and q.tag >= ${fromTag}
        order by q.tag desc limit 1) as last on true),
    chosen as (
      select due.id, due.available_at, lines.*,
        due.attempt > 0 or due.agent_id is distinct from lines.last_agent_id as promoted
      from due join lines using (workspace_id)),
    placed as (
      select id, promoted, case when promoted then promoted_tag else last_tag end as after_tag,
        row_number() over (partition by workspace_id, promoted order by available_at, id) as place
      from chosen)
    update execution_queue q set available_at = null, promoted = placed.promoted,
      tag = placed.place + greatest(placed.after_tag, coalesce(
        (select min(tag) from execution_queue where ${ready} and tag >= ${fromTag}), ${clockTag}))
    from placed where q.id = placed.id`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** A run given back by the process that holds it. The fence: where another has it by now, nothing happens. */
export interface Release {
  readonly id: string;
  readonly worker: string;
  readonly attempt: number;
  readonly delayMs: number;
  /** Whether a model call failed; a run that is merely handed on keeps its budget. */
  readonly failed: boolean;
  /** Whether it is to wait as if no work on it had ever begun. */
  readonly unstarted: boolean;
  readonly spent: Spent;
}

export async function releaseExecutions(db: Db, releases: readonly Release[]): Promise<void> {
  await sql`
    with given as materialized (
      select q.id, r.delay_ms, r.failed, r.unstarted, r.input_tokens, r.output_tokens, r.usd, r.known
      from execution_queue q
      join unnest(${releases.map((r) => r.id)}::uuid[], ${releases.map((r) => r.worker)}::uuid[],
        ${releases.map((r) => r.attempt)}::int[], ${releases.map((r) => r.delayMs)}::float8[],
        ${releases.map((r) => r.failed)}::bool[], ${releases.map((r) => r.unstarted)}::bool[],
        ${releases.map((r) => r.spent.inputTokens)}::int[], ${releases.map((r) => r.spent.outputTokens)}::int[],
        ${releases.map((r) => r.spent.costUsd)}::numeric[], ${releases.map((r) => r.spent.costKnown)}::bool[])
        as r (id, worker, attempt, delay_ms, failed, unstarted, input_tokens, output_tokens, usd, known)
        on q.id = r.id and q.worker = r.worker and q.attempt = r.attempt
      order by q.id for update of q)
    update execution_queue q set worker = null, failures = q.failures + given.failed::int,
      started_at = case when not given.unstarted then q.started_at end,
      spent_input_tokens = q.spent_input_tokens + given.input_tokens,
      spent_output_tokens = q.spent_output_tokens + given.output_tokens,
      spent_usd = q.spent_usd + given.usd, spent_known = q.spent_known and given.known,
      available_at = clock_timestamp() + given.delay_ms * interval '1 millisecond'
    from given where q.id = given.id`.execute(db);
}

/** The runs leased to this worker, as the database has it. */
export async function leasedExecutions(
  db: Db,
  worker: string,
): Promise<{ id: string; attempt: number }[]> {
  const { rows } = await sql<{ id: string; attempt: number }>`
    select id, attempt from execution_queue where worker = ${worker}`.execute(db);
  return rows;
}

/** How much waits, for metrics: the number of unleased runs and the age of the oldest in milliseconds. */
export async function queueDepth(db: Db): Promise<{ depth: number; oldestMs: number }> {
  const { rows } = await sql<{ depth: number; oldestMs: number }>`
    select (select count(*) from execution_queue where worker is null) as depth,
      coalesce((select (extract(epoch from clock_timestamp() - e.executed_at) * 1000)::float8
        from executions e where e.id = (
          select id from execution_queue where ${ready} order by id limit 1)), 0) as oldest_ms`.execute(
    db,
  );
  return rows[0] ?? { depth: 0, oldestMs: 0 };
}
