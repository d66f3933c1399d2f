import { CallFailure } from '../../core/failure.ts';
import type { Db } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/**
 * Refuses to copy what is stored while an erasure of the workspace is open: it has scanned what existed before, so that it
 * would not find the copy.
 * @param since refuses also if one was requested after it
 * @throws {CallFailure}
 */
export async function refuseDuringErasure(
  db: Db,
  workspaceId: string,
  since: Date | null = null,
): Promise<void> {
  const { rows } = await sql`
    select from erasure_requests
    where workspace_id = ${workspaceId} and (completed_at is null or requested_at > ${since}) limit 1`.execute(
    db,
  );
  if (rows.length === 0) return;
  const message = 'An erasure of the workspace is in progress. Try again when it is completed.';
  throw new CallFailure('CONFLICT', message);
}
