import { sql } from 'kysely';
import type { Trx } from './db.ts';

/**
 * Locks the rows that the calls of these keys, agents or workspaces are counted in. Admission holds them while it
 * decides, so what is changed under this lock takes effect with the next call and never in the midst of one.
 * Keys are locked before agents, agents before workspaces: never lock two kinds with one call.
 */
export async function lockLimits(trx: Trx, subjects: readonly string[]): Promise<void> {
  await sql`
    select subject from limits where subject = any (${subjects}::uuid[])
    order by subject for update`.execute(trx);
}
