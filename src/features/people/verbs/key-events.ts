import type { NewEvent } from '../../../core/event/event.ts';
import { toId } from '../../../core/id.ts';
import { readClock } from '../../../db/clock.ts';
import type { Trx } from '../../../db/database.ts';

/** An event for each revoked key. */
export async function keysRevoked(
  trx: Trx,
  workspaceId: string,
  keyIds: readonly string[],
): Promise<NewEvent[]> {
  if (keyIds.length === 0) return [];
  const atMs = await readClock(trx);
  return keyIds.map((id) => ({
    workspaceId,
    type: 'key.revoked',
    atMs,
    subject: id,
    agentId: null,
    user: null,
    data: JSON.stringify({ apiKeyId: toId('key', id) }),
  }));
}
