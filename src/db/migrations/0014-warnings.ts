import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * What the response schema that a call brought does not check. A process of the previous version leaves it empty, and ends executions
 * without it.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- A list of texts. A body: it names properties of the caller's schema.
    alter table execution_queue add warnings json;
    alter table executions add warnings json;

    -- The column is appended to both views.
    do $$
    declare
      live text := rtrim(pg_get_viewdef('live_executions'), ';');
      ended text;
    begin
      -- Looked up only where it is read: most reads of this view are lists and counts.
      execute 'create or replace view live_executions as select l.*,
        (select q.warnings from execution_queue q where q.id = l.id) as warnings from (' || live || ') l';
      select string_agg(quote_ident(attname), ', ' order by attnum) into ended
        from pg_attribute where attrelid = 'all_executions'::regclass and attnum > 0 and not attisdropped;
      execute format('create or replace view all_executions as
        select %1$s, warnings from executions union all select %1$s, warnings from live_executions', ended);
    end $$;
  `)
    .execute(db);
}
