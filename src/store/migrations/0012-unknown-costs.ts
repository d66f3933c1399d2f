import { type Kysely, sql } from 'kysely';

/**
 * How many calls there were whose cost is not known, so that a sum can say what it lacks. Calls from before count as known:
 * to look at every record of a long history would hold up all who serve.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    alter table statistics add column cost_unknown bigint not null default 0;
    alter table breakdown add column cost_unknown bigint not null default 0;
  `)
    .execute(db);
}
