import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * Budgets: what may be spent in a period, and what of it is reserved and settled. A process of the previous version reserves nothing,
 * so no budget exists while such a worker does.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    create table budgets (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      -- The calls that count for it: of one of these agents, with one of these keys, with one of these tags. Null: of all.
      agent_ids uuid[] check (cardinality(agent_ids) > 0),
      api_key_ids uuid[] check (cardinality(api_key_ids) > 0),
      tags text[] check (cardinality(tags) > 0),
      -- Whose calls share a window: the bucket of a window is the id of the agent or key, or the user as the caller names it.
      per text not null check (per in ('none', 'agent', 'key', 'user')),
      period text not null check (period in ('hour', 'day', 'week', 'month', 'total')),
      limit_usd numeric(20, 10) not null check (limit_usd >= 0),
      -- Sent with a call that has none.
      max_tokens integer not null default 4096 check (max_tokens > 0),
      -- In percent of the limit.
      thresholds integer[] not null default '{50,80,100}',
      -- What a call of a model without a price does: it is refused, or counts nothing.
      on_unknown text not null default 'refuse' check (on_unknown in ('refuse', 'count_zero')),
      enabled boolean not null default true,
      revision integer not null default 1,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      -- Windows at the last maintenance: too many, and new buckets share one.
      windows integer not null default 0,
      -- Events of an hour since 1970: those written, how many were beyond the limit of an hour, and the last of these.
      events_hour bigint not null default 0,
      events_written integer not null default 0,
      events_withheld integer not null default 0,
      last_withheld json,
      unique (workspace_id, name)
    ) with (fillfactor = 70);

    -- What a budget has spent. Only the holder of the limits of its workspace reads it to decide, or changes it.
    create table budget_windows (
      -- No foreign key: whatever has lost its budget is deleted later.
      budget_id uuid not null,
      bucket text not null,
      window_start timestamptz not null,
      -- Null: it never ends.
      window_end timestamptz,
      workspace_id uuid not null,
      -- The bounds of the calls that may be running.
      reserved numeric(20, 10) not null default 0 check (reserved >= 0),
      -- The cost of the others.
      settled numeric(20, 10) not null default 0 check (settled >= 0),
      -- Calls that were sent, and those of them whose cost is unknown: their bound is settled.
      calls bigint not null default 0,
      unknown_calls bigint not null default 0,
      -- The thresholds whose event was written; 0 stands for the first refusal.
      announced integer[] not null default '{}',
      primary key (budget_id, bucket, window_start)
    ) with (fillfactor = 50);
    create index budget_windows_by_end on budget_windows (window_end);

    -- What the ends of calls add to windows. It is inserted without a lock, and folded under that of the window.
    create table budget_settlements (
      budget_id uuid not null,
      bucket text not null,
      window_start timestamptz not null,
      -- What is not reserved any more: zero or less.
      delta_reserved numeric(20, 10) not null,
      delta_settled numeric(20, 10) not null,
      -- Whether the call was sent, and whether its cost is unknown.
      sent boolean not null,
      unknown boolean not null,
      execution_id uuid not null,
      -- The claim of the execution.
      call integer not null,
      settled_at timestamptz not null default clock_timestamp()
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
    create index budget_settlements_of_window on budget_settlements (budget_id, bucket, window_start);

    alter table execution_queue
      -- [{budgetId, bucket, window, usd}] of the next or running call. Empty: no budget concerns it. Null: nothing is reserved.
      add reservations jsonb,
      -- The sum of the bounds of its calls so far, and of what they cost beyond; null without a budget.
      add reserved_usd numeric,
      add overrun_usd numeric;
    alter table executions
      add reserved_usd numeric(20, 10),
      add overrun_usd numeric(20, 10);

    -- The columns are appended to both views.
    do $$
    declare
      live text := rtrim(pg_get_viewdef('live_executions'), ';');
      ended text;
    begin
      -- A live execution has no figures.
      execute 'create or replace view live_executions as
        select l.*, null::numeric as reserved_usd, null::numeric as overrun_usd from (' || live || ') l';
      select string_agg(quote_ident(attname), ', ' order by attnum) into ended
        from pg_attribute where attrelid = 'all_executions'::regclass and attnum > 0 and not attisdropped;
      execute format('create or replace view all_executions as
        select %1$s, reserved_usd, overrun_usd from executions
        union all select %1$s, reserved_usd, overrun_usd from live_executions', ended);
    end $$;

    -- Not validated: no row has another value.
    alter table batches
      drop constraint batches_waiting_for_check,
      add constraint batches_waiting_for_check
        check (waiting_for in ('agent_paused', 'quota', 'rate_limit', 'budget')) not valid,
      drop constraint batches_canceled_because_check,
      add constraint batches_canceled_because_check check (canceled_because in
        ('requested', 'key_ended', 'permission_lost', 'agent_deleted', 'budget_exhausted')) not valid;

    alter table alerts
      -- Of the metric budgetUsed. It may have been deleted.
      add budget_id uuid,
      drop constraint alerts_metric_check,
      add constraint alerts_metric_check check (metric in ('failureRate', 'count', 'p50', 'p95', 'costUSD', 'costUnknown',
        'quotaUsed', 'queueAge', 'budgetUsed'));

    -- Whether the worker reserves. One that does not would call models beside the budgets.
    alter table workers add keeps_budgets boolean not null default false;
    -- The lock lets neither slip in while the other is being inserted.
    create function refuse_careless_workers() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(${carelessLock});
      if tg_table_name = 'workers' then
        if exists (select from budgets) then
          raise exception 'A worker of an earlier version does not keep budgets: stop it.' using errcode = '55000';
        end if;
      elsif exists (select from workers where not keeps_budgets) then
        raise exception 'Workers of an earlier version are still running: they do not keep budgets.'
          using errcode = '55000';
      end if;
      return new;
    end $$;
    create trigger workers_keep_budgets before insert on workers
      for each row when (not new.keeps_budgets) execute function refuse_careless_workers();
    create trigger budgets_are_kept before insert on budgets
      for each row execute function refuse_careless_workers();
  `)
    .execute(db);
}

/** Advisory lock: of the first budget, and of workers that keep none. */
const carelessLock = 7_315_202_617;
