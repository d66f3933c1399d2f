import { toId } from '../../core/id.ts';
import { readClock } from '../../db/clock.ts';
import type { Trx } from '../../db/database.ts';
import { writeEvents } from '../../store/event/events.ts';

/** An event for each revoked key. Comes last in its transaction. */
export async function writeRevoked(
  trx: Trx,
  workspaceId: string,
  keyIds: readonly string[],
): Promise<void> {
  if (keyIds.length === 0) return;
  const atMs = await readClock(trx);
  const events = keyIds.map((id) => ({
    ...{ workspaceId, type: 'key.revoked' as const, atMs, subject: id, agentId: null, user: null },
    data: JSON.stringify({ apiKeyId: toId('key', id) }),
  }));
  await writeEvents(trx, events);
}
