import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * What an execution under a limit of cost may have been charged for. A process of the previous version leaves the columns empty:
 * a limit of cost holds once all processes have this one.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    alter table execution_queue
      -- The bound of the next or running call of a model, in US dollars; null without a limit of cost.
      add call_bound_usd numeric check (call_bound_usd >= 0),
      -- The bounds of calls whose cost is unknown, which may have been charged.
      add kept_usd numeric not null default 0 check (kept_usd >= 0),
      -- Settings that the agent does not have.
      add settings_applied json;
    alter table executions add settings_applied json;

    -- The column is appended to both views.
    do $$
    declare
      live text := rtrim(pg_get_viewdef('live_executions'), ';');
      ended text;
    begin
      execute 'create or replace view live_executions as select l.*,
        (select q.settings_applied from execution_queue q where q.id = l.id) as settings_applied from (' || live || ') l';
      select string_agg(quote_ident(attname), ', ' order by attnum) into ended
        from pg_attribute where attrelid = 'all_executions'::regclass and attnum > 0 and not attisdropped;
      execute format('create or replace view all_executions as
        select %1$s, settings_applied from executions union all select %1$s, settings_applied from live_executions', ended);
    end $$;
  `)
    .execute(db);
}
