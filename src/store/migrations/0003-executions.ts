import { type Kysely, sql } from 'kysely';

/** Executions, the queue of live ones, worker leases, and idempotency keys. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    create type execution_status as enum
      ('processing', 'success', 'failed', 'rate_limited', 'canceled', 'unauthorized');
    create type execution_source as enum ('dashboard', 'api', 'workflow');

    -- One row per accepted or refused call. Partitioned by month on the time inside the id, so that the id alone is the key
    -- and a range of dates is a range of ids. Written at acceptance and once more at the end.
    create table executions (
      id uuid primary key,
      workspace_id uuid not null,
      agent_id uuid not null,
      prompt_version_id uuid not null,
      api_key_id uuid,
      executed_by uuid,
      executed_at timestamptz not null,
      started_at timestamptz,
      completed_at timestamptz,
      temperature double precision,
      cost_usd numeric(20, 10) not null default 0,
      input_tokens integer not null default 0,
      output_tokens integer not null default 0,
      latency_ms integer not null default 0,
      attempts smallint not null default 0,
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
      -- The agent's settings at acceptance; null once the execution has ended.
      settings json,
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
      check ((status = 'processing') = (completed_at is null)),
      check ((status = 'processing') = (settings is not null)),
      check ((status in ('processing', 'success')) = (error_code is null)),
      workflow_run_id uuid,
      step_name text,
      -- Who it was for: the end user and the session as the caller names them.
      end_user text,
      session text,
      tags text[],
      metadata json,
      check ((error is null) = (error_code is null)),
      check ((workflow_run_id is null) = (step_name is null))
    ) partition by range (id);
    -- Encoded images do not become smaller.
    alter table executions alter column file_data set storage external;
    create table executions_default partition of executions default with (${vacuumed});
    -- Lists read this index alone. Status and source are included so that counting the edges of a range needs no rows.
    -- Ascending, though lists read it backwards: new entries come last and leave its pages nearly full.
    create index executions_of_agent on executions (agent_id, id) include (status, source) where status <> 'processing';

    -- Few records have the same user or session, so that these are found and counted by their index. Entries are written at
    -- the end only; an execution without a user or session has none. By workspace, for the lists of all its agents.
    create index executions_of_user on executions (workspace_id, end_user, id) include (agent_id, status, source)
      where end_user is not null and status <> 'processing';
    create index executions_of_session on executions (workspace_id, session, id) include (agent_id, status, source)
      where session is not null and status <> 'processing';

    -- All steps and items of a workflow run, also once the run is gone: an erasure deletes them together.
    create index executions_of_workflow_run on executions (workflow_run_id) where workflow_run_id is not null;

    -- The time inside an id, in milliseconds since 1970.
    create function id_ms(id uuid) returns bigint immutable strict parallel safe language sql
      return ('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(48)::bigint;
    create function id_time(id uuid) returns timestamptz immutable strict parallel safe language sql
      return to_timestamp(id_ms(id) / 1000.0);
    -- The smallest id of a millisecond: bounds a range of dates as a range of ids.
    create function id_floor(at timestamptz) returns uuid immutable strict parallel safe language sql
      return (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

    -- Creates the partitions of this month and of as many months after it, in one process at a time. If rows of a month
    -- already are in the default partition, that month stays there. Autovacuum is tuned because every row is updated once.
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

    -- The live executions: ready, delayed, waiting for a slot, or leased.
    create table execution_queue (
      id uuid primary key,
      workspace_id uuid not null,
      agent_id uuid not null,
      -- The virtual time of fair queueing: no workspace waits behind another's backlog.
      tag bigint not null,
      -- Delayed until then; null when ready or leased.
      available_at timestamptz,
      -- The worker that holds the lease.
      worker uuid,
      -- The fence: every claim increments it; every write by a worker specifies (worker, attempt).
      attempt integer not null default 0,
      failures smallint not null default 0,
      losses smallint not null default 0,
      -- Calls that the provider rejected before any work (rate limit, loading model); they are no attempts.
      rejections smallint not null default 0,
      -- Why it waits for its provider: the error code if its deadline comes first.
      wait_code text,
      -- The model to call, once a fallback has replaced the one of the execution.
      model text,
      -- Attempts with the models before it, without losses.
      earlier_attempts smallint not null default 0,
      -- The attempts so far, oldest first; null if there was none.
      attempt_list jsonb,
      -- Whether an attempt ended with EMPTY_OUTPUT, which is retried once.
      emptied boolean not null default false,
      -- Why an output did not match its schema, which is retried once.
      mismatch text,
      -- Agents with maxConcurrency: true holds a slot, false waits for one. Null: no such limit.
      has_slot boolean,
      started_at timestamptz,
      -- Tokens and cost of earlier attempts, as far as they are known.
      spent_input_tokens integer not null default 0,
      spent_output_tokens integer not null default 0,
      spent_usd numeric not null default 0,
      spent_known boolean not null default true,
      spent_source text,
      -- Ready again after a delay, or newly given a slot: ordered after the last of these of its workspace.
      promoted boolean not null default false,
      check (worker is null or available_at is null),
      check (worker is null or has_slot is not false)
    ) with (fillfactor = 70);
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

    -- Executions canceled while a worker ran them; the worker learns of them at its next heartbeat at the latest.
    -- No foreign key: cancel locks the execution first and a sweep the worker, so they could deadlock.
    create table cancellations (
      execution_id uuid primary key,
      worker uuid not null
    );
    create index cancellations_of_worker on cancellations (worker);

    create table idempotency (
      caller uuid not null,
      agent_id uuid not null,
      key text not null,
      digest bytea not null,
      execution_id uuid not null,
      agent_name text not null,
      ignored_variables text[] not null,
      created_at timestamptz not null,
      primary key (caller, agent_id, key)
    );
    create index idempotency_of_execution on idempotency (execution_id);
    create index idempotency_by_age on idempotency (created_at);

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

/** Every row is updated once: PostgreSQL's default of a fifth of the table would leave a month's worth of dead rows. */
const vacuumed =
  'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02';
