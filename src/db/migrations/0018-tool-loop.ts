import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * Executions that call tools: their turns, the calls of each turn, and what the record says of them.
 *
 * A process of the previous version would run such an execution without its tools, whoever accepted it, and delete records without
 * their steps. So no version executes tools while such a worker runs, and no such worker starts once one does. Whoever ends an
 * execution closes its calls.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- Whether the worker runs the tools of a version.
    alter table workers add runs_tools boolean not null default false;
    create index prompt_versions_with_tools on prompt_versions (id) where content -> 'executedTools' is not null;
    -- The lock lets neither slip in while the other is being inserted.
    create function refuse_workers_without_tools() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(${toolsLock});
      if tg_table_name = 'workers' then
        if exists (select from prompt_versions where content -> 'executedTools' is not null) then
          raise exception 'A worker of an earlier version does not run the tools of versions: stop it.' using errcode = '55000';
        end if;
      elsif exists (select from workers where not runs_tools) then
        raise exception 'Workers of an earlier version are still running: they do not run tools.'
          using errcode = '55000';
      end if;
      return new;
    end $$;
    create trigger workers_run_tools before insert on workers
      for each row when (not new.runs_tools) execute function refuse_workers_without_tools();
    create trigger versions_have_their_tools_run before insert on prompt_versions
      for each row when (new.content -> 'executedTools' is not null) execute function refuse_workers_without_tools();

    alter table execution_queue
      -- Finished turns with calls of tools; null if its version executes none.
      add turns smallint,
      -- Calls that were or will be sent.
      add tool_calls_made smallint;

    alter table executions
      -- Null if its version executes no tools.
      add turns smallint,
      add tool_calls_made smallint;

    -- The turns of executions that call tools. Part 0 is the turn of the model, the parts from 1 are its calls in their order.
    -- Partitioned and removed like records, with which they end.
    create table execution_steps (
      execution_id uuid not null,
      n smallint not null,
      part smallint not null,
      state text not null check (state in ('ready', 'dispatched', 'done', 'unknown', 'canceled')),
      -- Requests that may have left, and how often a person has allowed a further one.
      sent smallint not null default 0,
      resends smallint not null default 0,
      -- The claim that sent the last one.
      claim integer,
      safe boolean not null default false,
      is_error boolean not null default false,
      created_at timestamptz not null default clock_timestamp(),
      dispatched_at timestamptz,
      ended_at timestamptz,
      error_code text,
      -- Of the model.
      model text,
      input_tokens integer,
      output_tokens integer,
      cost_usd numeric(20, 10),
      cost_known boolean,
      latency_ms integer,
      -- Of a call: its key at the server, its id in the conversation, the tool as the model calls it, and its server.
      tool_call_id uuid,
      call_id text,
      name text,
      server_id uuid,
      -- Bodies. The message of the model as the next turn sends it back.
      message json,
      arguments json,
      -- With the values that are bound.
      used_arguments json,
      result text,
      result_json json,
      primary key (execution_id, n, part),
      check (part > 0 or state = 'done'),
      check ((part = 0) = (model is not null)),
      check ((part > 0) = (tool_call_id is not null)),
      -- A call that may change something leaves once.
      check (safe or sent <= 1 + resends),
      check (sent <= 3 + resends),
      check (state not in ('dispatched', 'unknown') or (sent > 0 and claim is not null)),
      check ((state in ('ready', 'dispatched')) = (ended_at is null))
    ) partition by range (execution_id);
    create table execution_steps_default partition of execution_steps default;

    create or replace function make_execution_partitions(months_ahead integer) returns void language plpgsql as $$
    declare
      -- No time zone: a month must not have the length that the session's zone gives it.
      first_day timestamp;
      parent text;
      name text;
    begin
      if not pg_try_advisory_xact_lock(7315202612) then
        return;
      end if;
      -- Behind a long read every other statement would queue up behind this lock. The next round tries again.
      perform set_config('lock_timeout', '200ms', true);
      for ahead in 0..months_ahead loop
        first_day := date_trunc('month', clock_timestamp() at time zone 'UTC') + make_interval(months => ahead);
        foreach parent in array array['executions', 'execution_steps'] loop
          name := parent || '_' || to_char(first_day, 'YYYY_MM');
          continue when to_regclass(name) is not null;
          begin
            execute format('create table %I partition of %I for values from (%L) to (%L)
                with (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)',
              name, parent,
              id_floor(first_day at time zone 'UTC'),
              id_floor((first_day + interval '1 month') at time zone 'UTC'));
          exception
            when check_violation then
              raise warning '% of % stay in the default partition', parent, name;
          end;
        end loop;
      end loop;
    end $$;
    select make_execution_partitions(2);

    -- Whatever ends an execution closes its calls, in the same transaction. A record without bodies has none in its steps.
    create function close_execution_steps() returns trigger language plpgsql as $$
    begin
      update execution_steps set ended_at = clock_timestamp(),
        state = case state when 'ready' then 'canceled' else 'unknown' end
      where execution_id = old.id and state in ('ready', 'dispatched');
      if old.settings ->> 'storeBodies' = 'false' then
        update execution_steps set message = null, arguments = null, used_arguments = null, result = null, result_json = null
        where execution_id = old.id;
      end if;
      return null;
    end $$;
    create trigger execution_queue_ended after delete on execution_queue
      for each row when (old.turns > 0) execute function close_execution_steps();

    -- The columns are appended to both views.
    do $$
    declare
      live text := rtrim(pg_get_viewdef('live_executions'), ';');
      ended text;
    begin
      -- Looked up only where they are read: most reads of this view are lists and counts.
      execute 'create or replace view live_executions as select l.*,
        (select q.turns from execution_queue q where q.id = l.id) as turns,
        (select q.tool_calls_made from execution_queue q where q.id = l.id) as tool_calls_made from (' || live || ') l';
      select string_agg(quote_ident(attname), ', ' order by attnum) into ended
        from pg_attribute where attrelid = 'all_executions'::regclass and attnum > 0 and not attisdropped;
      execute format('create or replace view all_executions as
        select %1$s, turns, tool_calls_made from executions
        union all select %1$s, turns, tool_calls_made from live_executions', ended);
    end $$;
  `)
    .execute(db);
}

/** Advisory lock: of versions that execute tools, and of workers that run none. */
const toolsLock = 7_315_202_618;
