import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** What a record says of an answer beside its text. A process of the previous version leaves it empty, and does not read it. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    alter table executions
      -- The provider's own word for the reason why the answer ended.
      add provider_finish_reason text,
      -- What had arrived of the answer when its execution was canceled. A body.
      add partial_text text;

    -- The columns are appended to both views.
    do $$
    declare
      live text := rtrim(pg_get_viewdef('live_executions'), ';');
      ended text;
    begin
      execute 'create or replace view live_executions as select *, null::text as provider_finish_reason,
        null::text as partial_text from (' || live || ') l';
      select string_agg(quote_ident(attname), ', ' order by attnum) into ended
        from pg_attribute where attrelid = 'all_executions'::regclass and attnum > 0 and not attisdropped;
      execute format('create or replace view all_executions as
        select %1$s, provider_finish_reason, partial_text from executions
        union all select %1$s, provider_finish_reason, partial_text from live_executions', ended);
    end $$;
  `)
    .execute(db);
}
