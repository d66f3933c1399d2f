import { type Kysely, sql } from 'kysely';

/** Which passwords were made up and printed, so that their users can be told as long as they keep them. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    -- Its hash, whatever the password is by now: equal to it for as long as nobody has chosen another.
    alter table accounts add column generated_password text;
  `)
    .execute(db);
}
