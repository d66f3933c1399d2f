import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** Lists leave out executions of the playground by their source, which the index has so that counting reads few rows. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- Reads go on while it is built; only the exchange stops them.
    create index execution_queue_by_agent on execution_queue (agent_id, id) include (source);
    drop index execution_queue_of_agent;
    alter index execution_queue_by_agent rename to execution_queue_of_agent;
  `)
    .execute(db);
}
