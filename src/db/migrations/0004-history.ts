import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** Statistics, retention, erasure, and the public view of the history. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- Adds latency histograms: the bin is the subscript less one. Only the bins between the lowest and the highest that
    -- occur are stored, and a gap may be null.
    create function add_counts(a bigint[], b bigint[]) returns bigint[]
      immutable parallel safe language plpgsql as $$
    begin
      if cardinality(a) = 0 then
        return b;
      end if;
      -- Executions that never started have no latency: b is empty.
      for i in coalesce(array_lower(b, 1), 1) .. coalesce(array_upper(b, 1), 0) loop
        if b[i] > 0 then
          a[i] := coalesce(a[i], 0) + b[i];
        end if;
      end loop;
      return a;
    end $$;
    create aggregate sum_counts(bigint[]) (sfunc = add_counts, stype = bigint[], initcond = '{}', parallel = safe);

    -- The bin of a latency in milliseconds: four bins per doubling.
    create function latency_bin(ms integer) returns integer immutable strict parallel safe language sql
      return width_bucket(ms, '{${binStarts.join(',')}}'::integer[]);

    -- Keyed by the time a call was accepted or refused. occurred is never reduced; recorded is the number of records that
    -- exist, reduced by the transaction that deletes them. cost_unknown counts executions whose cost is not known.
    create table statistics (
      agent_id uuid not null,
      level text not null check (level in ('minute', 'hour', 'day')),
      bucket timestamptz not null,
      status execution_status not null,
      source execution_source not null,
      occurred bigint not null,
      recorded bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost_usd numeric not null,
      cost_unknown bigint not null default 0,
      latency bigint[] not null,
      primary key (agent_id, level, bucket, status, source)
    ) with (fillfactor = 70);

    -- Statistics by every dimension, in quarters of an hour (which make up the days of every time zone) and in days.
    -- occurred and recorded mean the same as in statistics.
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
      occurred bigint not null,
      recorded bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost_usd numeric not null,
      cost_unknown bigint not null default 0,
      latency bigint[] not null,
      unique nulls not distinct
        (agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code)
    ) with (fillfactor = 70);

    -- What an ended or deleted execution with a user, tags or metadata adds to label_counts. A background round folds these
    -- rows, many at once. The bucket is a quarter of an hour.
    create table label_changes (
      agent_id uuid not null,
      bucket timestamptz not null,
      status execution_status not null,
      source execution_source not null,
      prompt_version_id uuid not null,
      model text not null,
      api_key_id uuid,
      error_code text,
      end_user text,
      tags text[],
      metadata json,
      occurred smallint not null,
      recorded smallint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost_usd numeric not null,
      cost_unknown smallint not null,
      latency_bin integer
    );
    create index label_changes_of_agent on label_changes (agent_id);

    -- Identifies a label: its value may be longer than an index entry.
    create function label_id(kind text, name text, value text) returns uuid immutable strict parallel safe language sql
      return (lpad(to_hex(hashtextextended(kind || length(name) || ':' || name || value, 0)), 16, '0')
        || lpad(to_hex(hashtextextended(kind || length(name) || ':' || name || value, 1)), 16, '0'))::uuid;

    -- The breakdown by label: each user, each tag, each value of the metadata by name. tagged: executions with any tag.
    create table label_counts (
      agent_id uuid not null,
      kind text not null check (kind in ('user', 'tag', 'tagged', 'metadata')),
      name text not null,
      value text not null,
      label uuid not null,
      level text not null check (level in ('quarter', 'day')),
      bucket timestamptz not null,
      status execution_status not null,
      source execution_source not null,
      prompt_version_id uuid not null,
      model text not null,
      api_key_id uuid,
      error_code text,
      occurred bigint not null,
      recorded bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost_usd numeric not null,
      cost_unknown bigint not null,
      latency bigint[] not null,
      unique nulls not distinct
        (agent_id, label, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code)
    ) with (fillfactor = 70);
    create index label_counts_by_kind on label_counts (agent_id, kind, name, level, bucket);

    create view label_change_buckets as
      select c.ctid as at, c.agent_id, l.kind, l.name, l.value, label_id(l.kind, l.name, l.value) as label, s.level,
        case s.level when 'day' then date_trunc('day', c.bucket, 'UTC') else c.bucket end as bucket,
        c.status, c.source, c.prompt_version_id, c.model, c.api_key_id, c.error_code, c.occurred::bigint as occurred,
        c.recorded::bigint as recorded, c.input_tokens, c.output_tokens, c.cost_usd, c.cost_unknown::bigint as cost_unknown,
        case when c.latency_bin is null then '{}'
          else format('[%s:%s]={1}', c.latency_bin + 1, c.latency_bin + 1)::bigint[] end as latency
      from label_changes c
      cross join lateral (
        select 'user' as kind, '' as name, c.end_user as value where c.end_user is not null
        union all select 'tag', '', tag from unnest(c.tags) as tag
        union all select 'tagged', '', '' where c.tags is not null
        union all select 'metadata', m.key, m.value from json_each_text(c.metadata) as m) as l
      cross join (values ('quarter'), ('day')) as s (level);

    create view label_buckets as
      select agent_id, kind, name, value, label, level, bucket, status, source, prompt_version_id, model, api_key_id,
        error_code, occurred, recorded, input_tokens, output_tokens, cost_usd, cost_unknown, latency
      from label_counts
      union all
      select agent_id, kind, name, value, label, level, bucket, status, source, prompt_version_id, model, api_key_id,
        error_code, occurred, recorded, input_tokens, output_tokens, cost_usd, cost_unknown, latency
      from label_change_buckets;

    -- Records before this time are gone: their partitions are dropped or about to be. The floor moves first; nothing is
    -- dropped while a snapshot may still read from the previous floor.
    create table history_floor (
      at timestamptz not null,
      moved_by xid8 not null,
      -- Statistics before this time no longer count dropped records; it follows the floor.
      counted_to timestamptz not null default 'epoch',
      singleton boolean primary key default true check (singleton)
    );
    insert into history_floor values ('epoch', pg_current_xact_id());

    -- The search index: groups of up to a few dozen records with the tokens of all their texts, also of their ids and
    -- agents (core/history/search-tokens.ts). A background round writes it from search_changes.
    create table search_groups (
      newest uuid not null,
      oldest uuid not null,
      ids uuid[] not null,
      tokens integer[] not null
    );
    alter table search_groups alter tokens set storage external;
    create index search_groups_of_token on search_groups using gin (tokens);
    create index search_groups_by_oldest on search_groups (oldest);

    -- Records that were written or whose texts were removed since the index was written, in the order of their commits or
    -- nearly so. Searches look at each of them.
    create table search_changes (
      id uuid not null,
      changed_at timestamptz not null default clock_timestamp()
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

    -- Every record with this id or a later one is in search_groups or in search_changes.
    create table search_coverage (
      from_id uuid not null,
      singleton boolean primary key default true check (singleton)
    );
    insert into search_coverage values ('00000000-0000-0000-0000-000000000000');

    -- Bodies of an agent's records up to this one have been removed.
    create table bodies_removed (
      agent_id uuid primary key references agents on delete cascade,
      up_to uuid not null
    );

    -- Outputs of agents with store_bodies = false, kept for a while so that pollers can read them. Their records have none.
    create table transient_outputs (
      execution_id uuid primary key,
      ended_at timestamptz not null,
      output text,
      refusal_text text,
      output_json json,
      tool_calls json
    );
    create index transient_outputs_by_age on transient_outputs (ended_at);

    -- Erasures: delete every record of a user, or in which a variable has a value.
    create table erasures (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      -- Null: all agents of the workspace.
      agent_id uuid references agents on delete cascade,
      -- Null: the value is a user.
      variable text,
      -- Null once completed: the personal value is not kept.
      value text,
      requested_by uuid references users on delete set null,
      requested_at timestamptz not null default clock_timestamp(),
      -- Records and workflow runs with this id or a later one have been scanned.
      down_to uuid not null,
      workflow_runs_down_to uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
      deleted bigint not null default 0,
      -- Schedules whose input contained the value at the request.
      schedules uuid[] not null default '{}',
      completed_at timestamptz,
      check ((value is null) = (completed_at is not null))
    );
    create index erasures_of_workspace on erasures (workspace_id, id desc);
    create index erasures_open on erasures (id) where completed_at is null;

    -- Matching executions that were still live when scanned: the erasure waits for them.
    create table erasure_executions (
      erasure_id uuid not null references erasures on delete cascade,
      execution_id uuid not null,
      primary key (erasure_id, execution_id)
    );

    -- Minute statistics of an agent are rolled up through this hour; without it each round would rescan its history.
    create table minute_rollups (
      agent_id uuid primary key references agents on delete cascade,
      up_to timestamptz not null
    );

    -- When each maintenance job last began: one process at a time runs it.
    create table maintenance_jobs (
      name text primary key,
      begun_at timestamptz not null default 'epoch',
      -- The last agent processed; zero after a full pass.
      reached uuid not null default '00000000-0000-0000-0000-000000000000'
    );
    insert into maintenance_jobs (name) values ('retention'), ('rollup');

    -- Callers that wrote recently, by the hash of their key or the id of their user: they do not read from standbys.
    create table recent_writes (
      writer text primary key,
      until timestamptz not null
    ) with (fillfactor = 50);

    -- For BI tools and auditors; part of the contract. Nothing below the floor: a month is never half visible.
    create view cueline_executions as
      select id as execution_id, agent_id, agent_name, status::text as status,
             split_part(source::text, '_', 1) as source,
             date_trunc('milliseconds', executed_at) as executed_at,
             input_tokens, output_tokens, input_tokens + output_tokens as tokens_used,
             cost_usd, cost_known, latency_ms, model as model_used, prompt_version_label, error_code,
             batch_id, source in ('dashboard_playground', 'api_playground') as playground
      from executions
      where id >= (select id_floor(at) from history_floor);

    -- PostgreSQL would write through a view this simple.
    create function refuse_view_write() returns trigger language plpgsql as $$
    begin
      raise exception 'cueline_executions is read-only' using errcode = 'insufficient_privilege';
    end $$;
    create trigger cueline_executions_read_only instead of insert or update or delete on cueline_executions
      for each row execute function refuse_view_write();
  `)
    .execute(db);
}

/** The first millisecond of each latency bin; test/store compares it with the bins of the program. */
const binStarts = Array.from({ length: 95 }, (_, index) => Math.ceil(2 ** (index / 4)));
