import type { Trx } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/**
 * Keeps the floor in place until the transaction ends; waits for a move in progress. Every change of retention takes this
 * lock, so that nothing is removed that the committed change keeps.
 */
export async function lockFloor(trx: Trx): Promise<void> {
  await sql`select from maintenance_jobs where name = 'retention' for share`.execute(trx);
}
