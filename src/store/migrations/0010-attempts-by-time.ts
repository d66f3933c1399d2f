import { type Kysely, sql } from 'kysely';

/** Sign-in attempts by age: whoever sweeps away those long past must not go over all that are there. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    create index sign_in_attempts_by_time on sign_in_attempts (last_request);
  `)
    .execute(db);
}
