import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';

/** How many rows of this table all statements have read so far, if this session is the only one. */
export async function readsOfTable(db: Db, name: string): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ reads: number }>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as reads from pg_stat_user_tables where relname = ${name}`.execute(
    db,
  );
  const [table] = rows;
  if (!table) throw new Error(`There is no table ${name}.`);
  return table.reads;
}
