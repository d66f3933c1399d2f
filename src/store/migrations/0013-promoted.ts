import { type Kysely, sql } from 'kysely';

/**
 * Which runs were made ready again, or got their slot: each takes its place after the last of these of its workspace, which
 * is read from an index that holds no others.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    alter table run_queue add promoted boolean not null default false;
    create index run_queue_promoted on run_queue (workspace_id, tag)
      where promoted and worker is null and available_at is null and holds_slot is not false;
  `)
    .execute(db);
}
