import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * Aliases of agents. They share one table, and so one unique key, with the slugs. A process of the previous version reads and
 * writes the slugs through the view: what it takes collides with aliases, and what it deletes frees them.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    alter table slugs rename to names;
    alter table names rename column slug to name;
    alter table names rename constraint slugs_pkey to names_pkey;
    -- 0 is the slug, the others are the aliases in their order.
    alter table names add column ordinal smallint not null default 0 check (ordinal between 0 and 20);
    alter table names drop constraint slugs_slug_check;
    alter table names add constraint names_name_check
      check (name ~ case when ordinal = 0 then '^[a-z0-9_-]{1,64}$' else '^[A-Za-z0-9._:-]{1,128}$' end);
    alter table names drop constraint slugs_subject_key;
    alter table names add constraint names_of_subject unique (subject, ordinal);
    -- A preflight names no workspace.
    create index names_by_name on names (name);

    create view slugs as select workspace_id, name as slug, subject from names where ordinal = 0;

    create function free_aliases() returns trigger language plpgsql as $$
    begin
      delete from names where subject = old.subject;
      return null;
    end $$;
    create trigger names_freed after delete on names
      for each row when (old.ordinal = 0) execute function free_aliases();

    -- Labels of versions by the version numbers that callers of the OpenAI API send.
    alter table agents add column version_aliases jsonb not null default '{}';
  `)
    .execute(db);
}
