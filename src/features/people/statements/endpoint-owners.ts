import type { Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** The endpoints of a key belong to its successor. */
export async function moveEndpoints(trx: Trx, keyId: string, successorId: string): Promise<void> {
  await sql`update endpoints set api_key_id = ${successorId} where api_key_id = ${keyId}`.execute(
    trx,
  );
}

/** The endpoints that a user created in sessions belong to the workspace from now on. */
export async function passSessionEndpoints(
  trx: Trx,
  workspaceId: string,
  userId: string,
): Promise<void> {
  await sql`
    update endpoints set created_by = null
    where workspace_id = ${workspaceId} and created_by = ${userId} and api_key_id is null`.execute(
    trx,
  );
}

/**
 * The endpoints that a user and their keys created belong to the workspace from now on. One that is disabled or whose key has
 * ended keeps the key: it gets nothing, and who enables it owns it.
 */
export async function passEndpoints(trx: Trx, workspaceId: string, userId: string): Promise<void> {
  await sql`
    update endpoints p set created_by = null,
      api_key_id = case when not exists (select from active_endpoints a where a.id = p.id) then p.api_key_id end
    where p.workspace_id = ${workspaceId} and p.created_by = ${userId}`.execute(trx);
}
