import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** What a record was charged with, whatever its price is later. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- How many calls a settlement is the sum of. A process of the previous version writes one for each.
    alter table budget_settlements add calls integer not null default 1;
  `)
    .execute(db);
}
