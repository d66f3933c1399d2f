import { type Kysely, sql } from 'kysely';

/** Why the last tick of a schedule started no run: nobody is there to be told when it happens. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    -- As it is shown: when, which code, and what a caller would have been told. Null where the last tick started a run.
    alter table workflow_schedules add column last_error json;
  `)
    .execute(db);
}
