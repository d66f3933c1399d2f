import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** Executions, the queue of live ones, worker leases, and idempotency keys. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    create type execution_status as enum
      ('processing', 'success', 'failed', 'rate_limited', 'canceled', 'unauthorized');
    -- Executions of a playground have sources of their own, so that lists and statistics leave them out by the indexes
    -- and keys that they have anyway.
    create type execution_source as enum
      ('dashboard', 'api', 'workflow', 'dashboard_playground', 'api_playground');

    -- The history: one row per call that was refused or has ended. A row is inserted once and never updated, except for
    -- removing its bodies. Partitioned by month on the time inside the id, so that the id alone is the key and a range of
    -- dates is a range of ids.
    create table executions (
      id uuid primary key,
      workspace_id uuid not null,
      agent_id uuid not null,
      prompt_version_id uuid not null,
      api_key_id uuid,
      executed_by uuid,
      executed_at timestamptz not null,
      started_at timestamptz,
      completed_at timestamptz not null,
      temperature double precision,
      cost_usd numeric(20, 10) not null default 0,
      input_tokens integer not null default 0,
      output_tokens integer not null default 0,
      latency_ms integer not null default 0,
      -- From the start to the first text of a stream.
      first_text_ms integer,
      attempts smallint not null default 0,
      -- The claim that ended it: readers of its stream know their position by it. Null if it was never claimed.
      last_claim integer,
      status execution_status not null,
      source execution_source not null,
      cost_known boolean not null default true,
      cost_source text check (cost_source in ('table', 'workspace', 'provider', 'unknown')),
      agent_name text not null,
      prompt_version_label text not null,
      model text not null,
      finish_reason text,
      -- Settings that the model rejected or ignored; null if all were applied.
      settings_not_applied text[],
      -- The attempts, oldest first; null if there was at most one, which the record itself describes.
      attempt_list jsonb,
      error_code text,
      error text,
      ip_address text,
      user_agent text,
      -- With references instead of data URLs.
      input_variables json,
      -- What is kept of the images and files among the variables: variable, type, bytes, sha256.
      files json,
      -- Their data URLs by reference: stored once, out of line, and never searched.
      file_data json,
      system_prompt text,
      user_prompt text,
      output text,
      reasoning_text text,
      reasoning_tokens integer,
      -- The model and the request as the provider names them.
      model_answered text,
      provider_request_id text,
      refusal_text text,
      -- The output as JSON, if the agent asks for it.
      output_json json,
      -- What was sent beside the prompts: messages, tools and settings.
      request json,
      -- The calls of tools in the answer.
      tool_calls json,
      workflow_run_id uuid,
      step_name text,
      batch_id uuid,
      -- Who it was for: the end user and the session as the caller names them.
      end_user text,
      session text,
      tags text[],
      metadata json,
      -- The execution that this one runs again. It may have been deleted.
      rerun_of uuid,
      -- True for a call of the OpenAI API whose client did not wait, else null.
      background boolean,
      check (status <> 'processing'),
      check ((status = 'success') = (error_code is null)),
      check ((error is null) = (error_code is null)),
      check ((workflow_run_id is null) = (step_name is null))
    ) partition by range (id);
    -- Encoded images do not become smaller.
    alter table executions alter column file_data set storage external;
    create table executions_default partition of executions default with (${vacuumed});
    -- Lists read this index alone. Status and source are included so that counting the edges of a range needs no rows.
    -- Ascending, though lists read it backwards: new entries come last and leave its pages nearly full.
    create index executions_of_agent on executions (agent_id, id) include (status, source);

    -- Few records have the same user or session, so that these are found and counted by their index. A record without a
    -- user or session has no entry. By workspace, for the lists of all its agents.
    create index executions_of_user on executions (workspace_id, end_user, id) include (agent_id, status, source)
      where end_user is not null;
    create index executions_of_session on executions (workspace_id, session, id) include (agent_id, status, source)
      where session is not null;

    create index executions_of_rerun on executions (rerun_of) where rerun_of is not null;

    -- All steps and items of a workflow run, also once the run is gone: an erasure deletes them together.
    create index executions_of_workflow_run on executions (workflow_run_id) where workflow_run_id is not null;
    create index executions_of_batch on executions (batch_id, id) include (agent_id, status, source)
      where batch_id is not null;

    -- The time inside an id, in milliseconds since 1970.
    create function id_ms(id uuid) returns bigint immutable strict parallel safe language sql
      return ('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(48)::bigint;
    create function id_time(id uuid) returns timestamptz immutable strict parallel safe language sql
      return to_timestamp(id_ms(id) / 1000.0);
    -- The smallest id of a millisecond: bounds a range of dates as a range of ids.
    create function id_floor(at timestamptz) returns uuid immutable strict parallel safe language sql
      return (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

    -- Creates the partitions of this month and of as many months after it, in one process at a time. If rows of a month
    -- already are in the default partition, that month stays there.
    create function make_execution_partitions(months_ahead integer) returns void language plpgsql as $$
    declare
      -- No time zone: a month must not have the length that the session's zone gives it.
      first_day timestamp;
      name text;
    begin
      if not pg_try_advisory_xact_lock(${partitionLock}) then
        return;
      end if;
      -- Behind a long read every other statement would queue up behind this lock. The next round tries again.
      perform set_config('lock_timeout', '200ms', true);
      for ahead in 0..months_ahead loop
        first_day := date_trunc('month', clock_timestamp() at time zone 'UTC') + make_interval(months => ahead);
        name := 'executions_' || to_char(first_day, 'YYYY_MM');
        continue when to_regclass(name) is not null;
        begin
          execute format('create table %I partition of executions for values from (%L) to (%L) with (${vacuumed})',
            name,
            id_floor(first_day at time zone 'UTC'),
            id_floor((first_day + interval '1 month') at time zone 'UTC'));
        exception
          when check_violation then
            raise warning 'executions of % stay in the default partition', name;
        end;
      end loop;
    end $$;
    select make_execution_partitions(2);

    -- One row per worker process: its lease. Deleting the row takes over its executions.
    create table workers (
      id uuid primary key,
      lease_until timestamptz not null,
      started_at timestamptz not null default clock_timestamp()
    ) with (fillfactor = 50);

    -- The live executions: ready, delayed, waiting for a slot, or leased. A row holds everything that the execution and its
    -- record need. The end of the execution deletes it and inserts the record in one statement.
    create table execution_queue (
      id uuid primary key,
      workspace_id uuid not null,
      agent_id uuid not null,
      prompt_version_id uuid not null,
      api_key_id uuid,
      executed_by uuid,
      -- The worker that holds the lease.
      worker uuid,
      workflow_run_id uuid,
      batch_id uuid,
      executed_at timestamptz not null,
      started_at timestamptz,
      -- Delayed until then; null when ready or leased.
      available_at timestamptz,
      -- The virtual time of fair queueing: no workspace waits behind another's backlog.
      tag bigint not null,
      temperature double precision,
      source execution_source not null,
      -- The fence: every claim increments it; every write by a worker specifies (worker, attempt).
      attempt integer not null default 0,
      -- Tokens and cost of earlier attempts, as far as they are known.
      spent_input_tokens integer not null default 0,
      spent_output_tokens integer not null default 0,
      -- Of the workflow run, with step_name: -1, or the item of a step that fans out.
      step_item integer,
      -- Of the batch, with batch_id.
      batch_line integer,
      failures smallint not null default 0,
      losses smallint not null default 0,
      -- Calls that the provider rejected before any work (rate limit, loading model); they are no attempts.
      rejections smallint not null default 0,
      -- Attempts with the models before the current one, without losses.
      earlier_attempts smallint not null default 0,
      spent_known boolean not null default true,
      -- Whether an attempt ended with EMPTY_OUTPUT, which is retried once.
      emptied boolean not null default false,
      -- Agents with maxConcurrency: true holds a slot, false waits for one. Null: no such limit.
      has_slot boolean,
      -- Ready again after a delay, or newly given a slot: ordered after the last of these of its workspace.
      promoted boolean not null default false,
      spent_usd numeric not null default 0,
      spent_source text,
      agent_name text not null,
      prompt_version_label text not null,
      -- The model to call now: a fallback replaces it.
      model text not null,
      -- Why it waits for its provider: the error code if its deadline comes first.
      wait_code text,
      -- Why an output did not match its schema, which is retried once.
      mismatch text,
      -- The attempts so far, oldest first; null if there was none.
      attempt_list jsonb,
      ip_address text,
      user_agent text,
      step_name text,
      end_user text,
      session text,
      tags text[],
      metadata json,
      rerun_of uuid,
      background boolean,
      -- The agent's settings at acceptance.
      settings json not null,
      input_variables json not null,
      files json,
      file_data json,
      check (worker is null or available_at is null),
      check (worker is null or has_slot is not false),
      check ((workflow_run_id is null) = (step_name is null)),
      check ((workflow_run_id is null) = (step_item is null)),
      check ((batch_id is null) = (batch_line is null))
    ) with (fillfactor = 70);
    alter table execution_queue alter column file_data set storage external;
    create index execution_queue_ready on execution_queue (tag, id)
      where worker is null and available_at is null and has_slot is not false;
    create index execution_queue_ready_of_workspace on execution_queue (workspace_id, tag, id)
      where worker is null and available_at is null and has_slot is not false;
    create index execution_queue_delayed on execution_queue (available_at) where available_at is not null;
    create index execution_queue_leased on execution_queue (worker) where worker is not null;
    create index execution_queue_slots on execution_queue (agent_id, has_slot, id) where has_slot is not null;
    create index execution_queue_of_agent on execution_queue (agent_id, id);
    create index execution_queue_promoted on execution_queue (workspace_id, tag)
      where promoted and worker is null and available_at is null and has_slot is not false;
    create index execution_queue_of_workflow_run on execution_queue (workflow_run_id) where workflow_run_id is not null;

    -- Live executions in the shape of records.
    create view live_executions as
      select ${columnsOf(liveColumns)}, settings ->> 'storeBodies' is distinct from 'false' as stores_bodies
      from execution_queue;
    -- Every execution, live or ended: exactly once in each snapshot.
    create view all_executions as
      select ${Object.keys(liveColumns).join(', ')} from executions
      union all select ${Object.keys(liveColumns).join(', ')} from live_executions;

    -- Executions canceled while a worker ran them; the worker learns of them at its next heartbeat at the latest.
    -- No foreign key: cancel locks the execution first and a sweep the worker, so they could deadlock.
    create table cancellations (
      execution_id uuid primary key,
      worker uuid not null
    );
    create index cancellations_of_worker on cancellations (worker);

    -- The first calls with an Idempotency-Key. The target is an agent or a workflow, the result an execution or a workflow run.
    create table idempotency (
      caller uuid not null,
      target uuid not null,
      key text not null,
      digest bytea not null,
      result uuid not null,
      target_name text not null,
      ignored text[] not null,
      created_at timestamptz not null,
      primary key (caller, target, key)
    );
    create index idempotency_of_result on idempotency (result);
    create index idempotency_by_age on idempotency (created_at);

    -- Batches: uploaded lines, each of which becomes an execution.
    create table batches (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      agent_id uuid not null references agents on delete cascade,
      -- The version pinned at the upload, whatever the agent is pinned to later.
      prompt_version_id uuid not null,
      -- Who uploaded it, for its idempotency key: the key, or the user of a session.
      caller uuid not null,
      api_key_id uuid,
      executed_by uuid,
      ip_address text,
      user_agent text,
      -- Uploading: its lines arrive, and nothing runs.
      status text not null default 'uploading' check (status in ('uploading', 'processing', 'completed', 'canceled')),
      idempotency_key text,
      -- Of the uploaded file. Null while uploading.
      digest bytea,
      -- The upload in progress: a later one with the same idempotency key takes over.
      upload uuid,
      created_at timestamptz not null default clock_timestamp(),
      -- Nothing waits or runs any more.
      completed_at timestamptz,
      -- Of the stored lines.
      bytes bigint not null default 0,
      -- Lines by their status.
      total integer not null default 0,
      waiting integer not null default 0,
      processing integer not null default 0,
      success integer not null default 0,
      failed integer not null default 0,
      canceled integer not null default 0,
      refused integer not null default 0,
      -- Why no line could start; null while lines start.
      waiting_for text check (waiting_for in ('agent_paused', 'quota', 'rate_limit')),
      -- When its next lines may start.
      next_at timestamptz not null default clock_timestamp(),
      canceled_because text check (canceled_because in ('requested', 'key_ended', 'permission_lost', 'agent_deleted')),
      check (total = waiting + processing + success + failed + canceled + refused),
      check ((status = 'uploading') = (digest is null)),
      check ((status = 'canceled') = (canceled_because is not null)),
      check (status <> 'canceled' or waiting = 0),
      check ((completed_at is not null) = (status <> 'uploading' and waiting + processing = 0)),
      check ((status = 'completed') = (completed_at is not null and canceled_because is null))
    ) with (fillfactor = 50);
    create index batches_of_agent on batches (agent_id, id);
    create index batches_due on batches (next_at) where status = 'processing' and waiting > 0;
    create index batches_canceling on batches (id) where status = 'canceled' and processing > 0;
    create index batches_uploading on batches (created_at) where status = 'uploading';
    create index batches_ended on batches (completed_at) where completed_at is not null;
    create index batches_of_workspace on batches (workspace_id);
    create unique index batches_by_idempotency_key on batches (caller, agent_id, idempotency_key)
      where idempotency_key is not null;

    create table batch_lines (
      batch_id uuid not null references batches on delete cascade,
      -- From 1, in the order of the file.
      line integer not null,
      -- As the caller names it; null if the line has none.
      id text,
      status text not null
        check (status in ('waiting', 'processing', 'success', 'failed', 'canceled', 'refused')),
      -- Only of a waiting line: the execution takes them over.
      variables json,
      labels json,
      -- In the labels, so that an erasure finds it.
      end_user text,
      execution_id uuid,
      error_code text,
      -- Of a line without an execution. The record has the error of an execution.
      error text,
      primary key (batch_id, line),
      check ((status = 'waiting') = (variables is not null)),
      check (status = 'waiting' or labels is null),
      check (end_user is null or labels is not null),
      check (execution_id is null or status not in ('waiting', 'refused'))
    ) with (fillfactor = 80);
    create index batch_lines_waiting on batch_lines (batch_id, line) where status = 'waiting';
    create index batch_lines_processing on batch_lines (batch_id, line) where status = 'processing';
    create index batch_lines_of_user on batch_lines (end_user) where end_user is not null;

    -- What streamed executions have shown so far, for readers in other processes. Unlogged: after a crash the workers write
    -- it again. Rows of ended executions are deleted by a round.
    create unlogged table stream_chunks (
      execution_id uuid not null,
      attempt integer not null,
      number integer not null,
      events text not null,
      primary key (execution_id, attempt, number)
    );

    -- List calls of a caller in its current minute. Unlogged: a crash resets the counts.
    create unlogged table list_counts (
      caller uuid primary key,
      minute bigint not null,
      used integer not null
    ) with (fillfactor = 50);
  `)
    .execute(db);
}

/** Advisory lock: one process at a time creates partitions. */
const partitionLock = 7_315_202_612;

/** Counts read the index alone once a vacuum has marked the pages: by default it waits for a fifth of the table. */
const vacuumed =
  'autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02';

/** The columns of a record, each with its expression for a live execution. */
const liveColumns: Readonly<Record<string, string>> = {
  ...same('id', 'workspace_id', 'agent_id', 'prompt_version_id', 'api_key_id', 'executed_by'),
  ...same('executed_at', 'started_at'),
  completed_at: 'null::timestamptz',
  ...same('temperature'),
  cost_usd: '0::numeric(20, 10)',
  input_tokens: '0',
  output_tokens: '0',
  latency_ms: '0',
  first_text_ms: 'null::integer',
  attempts: '(earlier_attempts + failures + losses + (worker is not null)::int)::smallint',
  last_claim: 'null::integer',
  status: "'processing'::execution_status",
  ...same('source'),
  cost_known: 'true',
  cost_source: 'null::text',
  ...same('agent_name', 'prompt_version_label', 'model'),
  finish_reason: 'null::text',
  settings_not_applied: 'null::text[]',
  ...same('attempt_list'),
  error_code: 'null::text',
  error: 'null::text',
  ...same('ip_address', 'user_agent', 'input_variables', 'files', 'file_data'),
  system_prompt: 'null::text',
  user_prompt: 'null::text',
  output: 'null::text',
  reasoning_text: 'null::text',
  reasoning_tokens: 'null::integer',
  model_answered: 'null::text',
  provider_request_id: 'null::text',
  refusal_text: 'null::text',
  output_json: 'null::json',
  request: 'null::json',
  tool_calls: 'null::json',
  ...same(
    'workflow_run_id',
    'step_name',
    'batch_id',
    'end_user',
    'session',
    'tags',
    'metadata',
    'rerun_of',
    'background',
  ),
};

function same(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

function columnsOf(columns: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([name, expression]) => `${expression} as ${name}`)
    .join(', ');
}
