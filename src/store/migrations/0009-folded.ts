import { type Kysely, sql } from 'kysely';

/** How far the minutes of an agent have been folded: without it each round would go over its whole history again. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    create table minutes_folded (
      agent_id uuid primary key references agents on delete cascade,
      -- The last hour that was looked at.
      up_to timestamptz not null
    );
  `)
    .execute(db);
}
