import { type Kysely, sql } from 'kysely';

/** What makes a history of any length answer at once, and what takes its records away in time. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    -- The time inside an id, in milliseconds since 1970.
    create function id_ms(id uuid) returns bigint immutable strict parallel safe language sql
      return ('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(48)::bigint;
    create function id_time(id uuid) returns timestamptz immutable strict parallel safe language sql
      return to_timestamp(id_ms(id) / 1000.0);

    -- The history is read in this index alone, however many runs are still under way. Status and source stand in it so
    -- that the records at the edge of a range are counted without a look at their rows. Ascending, though it is read
    -- backwards: new entries then come last, and its pages are left nearly full instead of half.
    create index executions_ended on executions (agent_id, id) include (status, source)
      where status <> 'processing';
    drop index executions_of_agent;
    create index run_queue_of_agent on run_queue (agent_id, id);

    -- Latencies by bin, the bin being the subscript less one. Only the bins between the lowest and the highest that
    -- occur are stored, and a gap may be null.
    create or replace function add_counts(a bigint[], b bigint[]) returns bigint[]
      immutable parallel safe language plpgsql as $$
    begin
      if cardinality(a) = 0 then
        return b;
      end if;
      -- What never ran has none at all.
      for i in coalesce(array_lower(b, 1), 1) .. coalesce(array_upper(b, 1), 0) loop
        if b[i] > 0 then
          a[i] := coalesce(a[i], 0) + b[i];
        end if;
      end loop;
      return a;
    end $$;
    create aggregate sum_counts(bigint[]) (sfunc = add_counts, stype = bigint[], initcond = '{}', parallel = safe);

    -- The bin of a latency in milliseconds: four to each doubling.
    create function latency_bin(ms integer) returns integer immutable strict parallel safe language sql
      return width_bucket(ms, '{${binStarts.join(',')}}'::integer[]);

    -- Statistics by all that a call can be told apart by, in quarters of an hour, of which the days of every time zone
    -- are made, and in days. happened and recorded mean the same as in statistics.
    create table breakdown (
      agent_id uuid not null,
      level text not null check (level in ('quarter', 'day')),
      bucket timestamptz not null,
      status execution_status not null,
      source execution_source not null,
      prompt_version_id uuid not null,
      model text not null,
      api_key_id uuid,
      error_code text,
      happened bigint not null,
      recorded bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost_usd numeric not null,
      latency bigint[] not null,
      unique nulls not distinct
        (agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code)
    ) with (fillfactor = 70);
    insert into breakdown
    select agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code,
      count(*), count(*), sum(input_tokens), sum(output_tokens), sum(cost_usd),
      coalesce(sum_counts(array_fill(1::bigint, array[1], array[latency_bin(latency_ms) + 1]))
        filter (where started_at is not null), '{}')
    from executions cross join lateral (values
      ('quarter', date_bin('15 minutes', id_time(id), 'epoch')),
      ('day', date_trunc('day', id_time(id), 'UTC'))) as at (level, bucket)
    where status <> 'processing'
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9;

    -- Records before this time are gone: their partitions are dropped, or about to be. It moves first, and nothing is
    -- dropped while somebody may still read by the time before.
    create table history_floor (
      at timestamptz not null,
      moved_by xid8 not null,
      -- Up to which time the buckets know that their records are gone: it follows.
      counted_to timestamptz not null default 'epoch',
      one boolean primary key default true check (one)
    );
    insert into history_floor values ('epoch', pg_current_xact_id());

    -- Days that records are kept, and their bodies (variables, prompts, output); null is for ever, and with bodies as
    -- long as their record. Null of an agent: what its workspace says.
    alter table workspaces
      add column records_days integer check (records_days between 1 and 36500),
      add column bodies_days integer check (bodies_days between 1 and 36500);
    -- Of new ones: who has kept everything so far is not to lose it to an upgrade.
    alter table workspaces alter column records_days set default 90;
    alter table agents
      add column records_days integer check (records_days between 1 and 36500),
      add column bodies_days integer check (bodies_days between 1 and 36500),
      add column store_bodies boolean not null default true;

    -- Up to which record of an agent the bodies have been taken away.
    create table bodies_taken (
      agent_id uuid primary key references agents on delete cascade,
      up_to uuid not null
    );

    -- Outputs of agents that store no bodies: kept a while so that whoever polls gets them.
    create table brief_outputs (
      execution_id uuid primary key,
      ended_at timestamptz not null
    );
    create index brief_outputs_by_age on brief_outputs (ended_at);

    -- The records of one end user, named by a variable's value, on their way out of the history.
    create table erasures (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      -- Null: all agents of the workspace.
      agent_id uuid references agents on delete cascade,
      variable text not null,
      -- Null once it is done: then nobody needs to know whose records they were.
      value text,
      requested_by uuid references users on delete set null,
      requested_at timestamptz not null default clock_timestamp(),
      -- Records from here on have been looked at.
      down_to uuid not null,
      deleted bigint not null default 0,
      completed_at timestamptz,
      check ((value is null) = (completed_at is not null))
    );
    create index erasures_of_workspace on erasures (workspace_id, id desc);
    create index erasures_open on erasures (id) where completed_at is null;

    -- Runs of an erasure's end user that had not ended when it came past them: it waits for them.
    create table erasure_runs (
      erasure_id uuid not null references erasures on delete cascade,
      execution_id uuid not null,
      primary key (erasure_id, execution_id)
    );

    -- Who did what to whose records and rules.
    create table audit (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      at timestamptz not null default clock_timestamp(),
      user_id uuid,
      api_key_id uuid,
      action text not null,
      -- What it was done to, as its wire identifier.
      subject text not null,
      details json not null default '{}'
    );
    create index audit_of_workspace on audit (workspace_id, id desc);

    -- Which kinds of housekeeping began when, so that one process at a time does what one is enough for.
    create table rounds (
      name text primary key,
      begun_at timestamptz not null default 'epoch',
      -- The agents up to this one have had their turn; zero where all have.
      reached uuid not null default '00000000-0000-0000-0000-000000000000'
    );
    insert into rounds (name) values ('retention'), ('folding');

    -- As before, by one process at a time, and with vacuums that keep up with rows that are all updated once.
    create or replace function make_execution_partitions(months_ahead integer) returns void language plpgsql as $$
    declare
      -- Without a zone, or a month would have the length that the session's zone gives it.
      first_day timestamp;
      name text;
    begin
      if not pg_try_advisory_xact_lock(${partitionLock}) then
        return;
      end if;
      -- Behind a long read everyone else would wait for this; there are months left to try again.
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
    do $$
    declare
      name regclass;
    begin
      for name in select inhrelid from pg_inherits where inhparent = 'executions'::regclass loop
        execute format('alter table %s set (${vacuumed})', name);
      end loop;
    end $$;

    -- As before, and nothing below the floor: whoever reads this must not see half a month.
    create or replace view cueline_executions as
      select id as execution_id, agent_id, agent_name, status::text as status, source::text as source,
             date_trunc('milliseconds', executed_at) as executed_at,
             input_tokens, output_tokens, input_tokens + output_tokens as tokens_used,
             cost_usd, cost_known, latency_ms, model as model_used, prompt_version_label, error_code
      from executions
      where status <> 'processing' and id >= (select id_floor(at) from history_floor);
  `)
    .execute(db);
}

/** The first millisecond of each bin from the first on; the same as in the program, as it was then. */
const binStarts = Array.from({ length: 95 }, (_, index) => Math.ceil(2 ** (index / 4)));

/** Any number that nothing else locks: partitions are made by one process at a time. */
const partitionLock = 7_315_202_612;

/** Every row is updated once, so a fifth of the table, as PostgreSQL has it, would be a month's worth of dead rows. */
const vacuumed =
  'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02';
