import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';

/**
 * Moves the limit windows of a key or agent into the future and resets their counts. A window never moves backwards, so
 * they do not change during a test.
 */
export async function freezeWindows(db: Db, subject: string): Promise<void> {
  const at = (lengthMs: number) => Math.floor(frozenAtMs / lengthMs);
  await sql`
    update limits set minute = ${at(60_000)}, minute_used = 0, hour = ${at(3_600_000)}, hour_used = 0,
      day = ${at(86_400_000)}, day_used = 0
    where subject = ${subject}`.execute(db);
}

const frozenAtMs = Date.UTC(2099, 4, 6, 7, 8);

/** The end of each frozen window. */
export const frozenResetAt = {
  minute: '2099-05-06T07:09:00.000Z',
  hour: '2099-05-06T08:00:00.000Z',
  day: '2099-05-07T00:00:00.000Z',
} as const;
