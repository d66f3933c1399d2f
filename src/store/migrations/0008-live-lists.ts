import { type Kysely, sql } from 'kysely';

/** Lists leave out executions of the playground by their source, which the index has so that counting reads no row. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    drop index execution_queue_of_agent;
    create index execution_queue_of_agent on execution_queue (agent_id, id) include (source);
  `)
    .execute(db);
}
