import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** Which records of a group have a token, so that a search reads only those that have all of its words. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- For each token a bit per record of the group, in their order. Null: written by an earlier version; any may have it.
    alter table search_groups add masks integer[];
    alter table search_groups alter masks set storage external;
    create index search_groups_by_newest on search_groups (newest, oldest);
  `)
    .execute(db);
}
