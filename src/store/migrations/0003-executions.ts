import { type Kysely, sql } from 'kysely';

/** Executions, the queue of the unfinished ones, the processes that work on them, and the statistics. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    create type execution_status as enum
      ('processing', 'success', 'failed', 'rate_limited', 'canceled', 'unauthorized');
    create type execution_source as enum ('dashboard', 'api', 'workflow');

    -- What the world sees of a run, or of a call that was refused. Partitioned by month on the time inside the id,
    -- so the id alone is the key and a range of dates is a range of ids. Written when accepted and once more at the end.
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
      agent_name text not null,
      prompt_version_label text not null,
      model text not null,
      finish_reason text,
      error_code text,
      error text,
      ip_address text,
      user_agent text,
      input_variables json,
      -- What the run needs of the agent as it was when the call was accepted; gone once it has ended.
      settings json,
      system_prompt text,
      user_prompt text,
      output text,
      check ((status = 'processing') = (completed_at is null)),
      check ((status = 'processing') = (settings is not null)),
      check ((status in ('processing', 'success')) = (error_code is null)),
      check ((error is null) = (error_code is null))
    ) partition by range (id);
    create table executions_rest partition of executions default;
    create index executions_of_agent on executions (agent_id, id desc);

    -- The smallest id of a millisecond: what bounds a range of dates as a range of ids.
    create function id_floor(at timestamptz) returns uuid immutable strict parallel safe language sql
      return (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

    -- Makes the partitions of this month and of as many after it. Where rows of a month already stand in the default
    -- partition, because nobody came in time, they stay there and so do the rest of that month.
    create function make_execution_partitions(months_ahead integer) returns void language plpgsql as $$
    declare
      -- Without a zone, or a month would have the length that the session's zone gives it.
      first_day timestamp;
      name text;
    begin
      -- Behind a long read everyone else would wait for this.
      perform set_config('lock_timeout', '2s', true);
      for ahead in 0..months_ahead loop
        first_day := date_trunc('month', clock_timestamp() at time zone 'UTC') + make_interval(months => ahead);
        name := 'executions_' || to_char(first_day, 'YYYY_MM');
        continue when to_regclass(name) is not null;
        begin
          execute format('create table %I partition of executions for values from (%L) to (%L)', name,
            id_floor(first_day at time zone 'UTC'),
            id_floor((first_day + interval '1 month') at time zone 'UTC'));
        exception
          when check_violation then
            raise warning 'executions of % stay in the default partition', name;
          when duplicate_table then null; -- Another process was faster.
        end;
      end loop;
    end $$;
    select make_execution_partitions(2);

    -- A working process and how long its lease lasts. Deleting the row is what takes its runs from it.
    create table workers (
      id uuid primary key,
      lease_until timestamptz not null,
      started_at timestamptz not null default clock_timestamp()
    ) with (fillfactor = 50);

    -- The unfinished runs. Slim, and a row lives only while its run does.
    create table run_queue (
      id uuid primary key,
      workspace_id uuid not null,
      agent_id uuid not null,
      -- The place in line: a virtual time of the workspace, so that no workspace stands behind another's backlog.
      tag bigint not null,
      -- Not before then; null when ready or leased.
      available_at timestamptz,
      -- The process that holds the lease.
      worker uuid,
      -- The fence: raised by every claim, and named by every write of the one who claimed.
      attempt integer not null default 0,
      failures smallint not null default 0,
      losses smallint not null default 0,
      -- For an agent with maxConcurrency: whether this run has one of its slots or waits for one.
      holds_slot boolean,
      started_at timestamptz,
      -- What the attempts before this one used and cost, as far as that is known.
      spent_input_tokens integer not null default 0,
      spent_output_tokens integer not null default 0,
      spent_usd numeric not null default 0,
      spent_known boolean not null default true,
      check (worker is null or available_at is null),
      check (worker is null or holds_slot is not false)
    ) with (fillfactor = 70);
    create index run_queue_ready on run_queue (tag, id)
      where worker is null and available_at is null and holds_slot is not false;
    create index run_queue_ready_of_workspace on run_queue (workspace_id, tag, id)
      where worker is null and available_at is null and holds_slot is not false;
    create index run_queue_delayed on run_queue (available_at) where available_at is not null;
    create index run_queue_leased on run_queue (worker) where worker is not null;
    create index run_queue_slots on run_queue (agent_id, holds_slot, id) where holds_slot is not null;

    -- Runs that were canceled while a process worked on them: told to it by its next heartbeat at the latest.
    -- No foreign key: a cancel locks the run first and a sweep the worker, and each would wait for the other.
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
    create index idempotency_by_age on idempotency (created_at);

    -- List calls of a caller in its current minute. Not worth a line in the log: after a crash it starts anew.
    create unlogged table list_counts (
      caller uuid primary key,
      minute bigint not null,
      used integer not null
    ) with (fillfactor = 50);

    -- Levels: 'minute', 'hour', 'day'. Keyed by the time a call was accepted or refused. happened is never reduced;
    -- recorded is the number of rows that exist, reduced by the transaction that deletes them.
    create table statistics (
      agent_id uuid not null,
      level text not null check (level in ('minute', 'hour', 'day')),
      bucket timestamptz not null,
      status execution_status not null,
      source execution_source not null,
      happened bigint not null,
      recorded bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost_usd numeric not null,
      latency bigint[] not null,
      primary key (agent_id, level, bucket, status, source)
    ) with (fillfactor = 70);

    -- Element by element; the shorter one counts as filled up with zeros.
    create function add_counts(a bigint[], b bigint[]) returns bigint[] immutable parallel safe language sql
      return (select coalesce(array_agg(coalesce(x, 0) + coalesce(y, 0) order by i), '{}')
              from rows from (unnest(a), unnest(b)) with ordinality as pairs (x, y, i));

    create view cueline_executions as
      select id as execution_id, agent_id, agent_name, status::text as status, source::text as source,
             date_trunc('milliseconds', executed_at) as executed_at,
             input_tokens, output_tokens, input_tokens + output_tokens as tokens_used,
             cost_usd, cost_known, latency_ms, model as model_used, prompt_version_label, error_code
      from executions
      where status <> 'processing';

    -- PostgreSQL would write through so simple a view.
    create function refuse_view_write() returns trigger language plpgsql as $$
    begin
      raise exception 'cueline_executions is read-only' using errcode = 'read_only_sql_transaction';
    end $$;
    create trigger cueline_executions_read_only instead of insert or update or delete on cueline_executions
      for each row execute function refuse_view_write();
  `)
    .execute(db);
}
