import { toId } from '../../../core/id.ts';
import { serviceActor } from '../../../core/people/audit.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { writeAudit } from '../../people/statements/audit-statements.ts';
import { reportExpiringKeys } from '../../people/statements/keys.ts';
import {
  deleteEndpoint,
  failAllPending,
  findEndpointsOfEndedKeys,
  findSilentEndpoints,
} from '../statements/endpoints.ts';
import { disableEndpoint } from './disable-endpoint.ts';

/**
 * What nobody triggers: endpoints whose key has ended are disabled, what is pending at disabled ones fails, pull endpoints that
 * nobody reads are deleted, and keys that expire soon are reported. Any number of processes may do it.
 */
export async function maintainEndpoints(db: Db): Promise<void> {
  for (const { id } of await findEndpointsOfEndedKeys(db)) {
    await disableEndpoint(db, id, 'key_ended');
  }
  await failAllPending(db);
  for (const { id, workspaceId } of await findSilentEndpoints(db)) {
    await inTransaction(db, async (trx) => {
      if (!(await deleteEndpoint(trx, workspaceId, id))) return;
      const details = { reason: 'silent' };
      const line = { subject: toId('endpoint', id), details };
      await writeAudit(trx, serviceActor(workspaceId), { action: 'endpoint.delete', ...line });
    });
  }
  await inTransaction(db, async (trx) => {
    const keys = await reportExpiringKeys(trx);
    const events = keys.map(({ id, workspaceId, expiresAt, nowMs }) => ({
      ...{ workspaceId, type: 'key.expiring' as const, atMs: nowMs },
      ...{ subject: id, agentId: null, user: null },
      data: JSON.stringify({ apiKeyId: toId('key', id), expiresAt: expiresAt.toISOString() }),
    }));
    await writeEvents(trx, events);
  });
}
