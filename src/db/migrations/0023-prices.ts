import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * Each price that a workspace has set, so that records name the one that they were charged with. Triggers keep them, because a process
 * of the previous version changes prices too. And what budgets need of providers and of ends.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    create sequence price_ids as integer;
    alter table prices
      -- Another one after each change of an amount.
      add id integer not null default nextval('price_ids'),
      add valid_from timestamptz;
    update prices set valid_from = updated_at;
    alter table prices
      alter valid_from set default clock_timestamp(),
      alter valid_from set not null;

    -- The current ones too. Nothing changes or deletes them.
    create table price_history (
      id integer primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      model text not null,
      input_per_million numeric not null,
      output_per_million numeric not null,
      cache_read_per_million numeric,
      cache_write_per_million numeric,
      valid_from timestamptz not null
    );
    create index price_history_of_workspace on price_history (workspace_id);
    insert into price_history
      select id, workspace_id, model, input_per_million, output_per_million, cache_read_per_million,
        cache_write_per_million, valid_from from prices;

    create function renew_price() returns trigger language plpgsql as $$
    begin
      new.id := nextval('price_ids');
      new.valid_from := clock_timestamp();
      return new;
    end $$;
    create trigger price_changes before update on prices for each row
      when ((old.input_per_million, old.output_per_million, old.cache_read_per_million, old.cache_write_per_million)
        is distinct from
        (new.input_per_million, new.output_per_million, new.cache_read_per_million, new.cache_write_per_million))
      execute function renew_price();
    create function keep_price() returns trigger language plpgsql as $$
    begin
      insert into price_history values (new.id, new.workspace_id, new.model, new.input_per_million,
        new.output_per_million, new.cache_read_per_million, new.cache_write_per_million, new.valid_from)
      on conflict (id) do nothing;
      return null;
    end $$;
    create trigger price_is_kept after insert or update on prices for each row execute function keep_price();

    -- Of the last call that was charged with a price of the workspace. Null: the record is older, or was charged otherwise.
    alter table execution_queue add spent_price_id integer;
    alter table executions add price_id integer;
    -- The column is appended to both views.
    do $$
    declare
      live text := rtrim(pg_get_viewdef('live_executions'), ';');
      ended text;
    begin
      execute 'create or replace view live_executions as select l.*, null::integer as price_id from (' || live || ') l';
      select string_agg(quote_ident(attname), ', ' order by attnum) into ended
        from pg_attribute where attrelid = 'all_executions'::regclass and attnum > 0 and not attisdropped;
      execute format('create or replace view all_executions as
        select %1$s, price_id from executions union all select %1$s, price_id from live_executions', ended);
    end $$;

    -- The first option of its bodyExtra with which no limit of cost can hold: the others are encrypted. Null: none, or not known.
    alter table providers add unbounded_option text;

    -- How many calls a settlement is the sum of. A process of the previous version writes one for each.
    alter table budget_settlements add calls integer not null default 1;
  `)
    .execute(db);
}
