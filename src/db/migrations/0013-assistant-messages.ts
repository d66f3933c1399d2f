import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * Answers with calls of tools as their providers sent them, for the next turn. A process of the previous version writes none, and
 * the next turn then is sent without.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- A body: reasoning, signatures and calls of tools.
    alter table executions add assistant_message json;

    -- The executions with such a message, by a digest of the conversation that ends with it, workspace included. An index of
    -- executions would have to read the whole history when it is built. Rows outlive their records until they are too old.
    create table tool_call_executions (
      execution_id uuid primary key,
      digest uuid not null,
      -- Of the message, so that nobody reads a long one to learn its length.
      chars integer not null
    );
    create index tool_call_executions_by_digest on tool_call_executions (digest, execution_id);

    -- The column is appended to both views.
    do $$
    declare
      live text := rtrim(pg_get_viewdef('live_executions'), ';');
      ended text;
    begin
      execute 'create or replace view live_executions as select *, null::json as assistant_message from (' || live || ') l';
      select string_agg(quote_ident(attname), ', ' order by attnum) into ended
        from pg_attribute where attrelid = 'all_executions'::regclass and attnum > 0 and not attisdropped;
      execute format('create or replace view all_executions as
        select %1$s, assistant_message from executions
        union all select %1$s, assistant_message from live_executions', ended);
    end $$;
  `)
    .execute(db);
}
