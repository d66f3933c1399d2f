import type { Db } from './database.ts';
import { sql } from './sql.ts';

/** Who wrote recently and therefore reads from the primary, in every process. */

/** @param writer the hash of a key, or the id of a user */
export async function markRecentWrite(db: Db, writer: string, forMs: number): Promise<void> {
  await sql`
    insert into recent_writes (writer, until)
    values (${writer}, clock_timestamp() + ${forMs} * interval '1 millisecond')
    on conflict (writer) do update set until = greatest(recent_writes.until, excluded.until)`.execute(
    db,
  );
}

export async function hasRecentWrite(db: Db, writer: string): Promise<boolean> {
  const { rows } = await sql`
    select from recent_writes where writer = ${writer} and until > clock_timestamp()`.execute(db);
  return rows.length > 0;
}

/** A clock that was set back would keep a caller from standbys for as long, so a far mark is deleted too. */
export async function deleteOldRecentWrites(db: Db): Promise<void> {
  await sql`
    delete from recent_writes
    where until < clock_timestamp() - interval '1 hour' or until > clock_timestamp() + interval '2 hours'`.execute(
    db,
  );
}
