import type { DisabledReason } from '../../../core/event/endpoint.ts';
import { toId } from '../../../core/id.ts';
import { type Actor, serviceActor } from '../../../core/people/audit.ts';
import type { Db } from '../../../db/database.ts';
import { inTransaction } from '../../../db/database.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { writeAudit } from '../../people/statements/audit-statements.ts';
import { markDisabled } from '../statements/endpoints.ts';

/**
 * Disables an endpoint: what is pending fails, the audit log has the reason, and the other endpoints get an event. Does nothing
 * if it is disabled or deleted already.
 */
export async function disableEndpoint(
  db: Db,
  endpointId: string,
  reason: DisabledReason,
  actor?: Actor,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const disabled = await markDisabled(trx, endpointId, reason);
    if (!disabled) return;
    const { workspaceId, atMs } = disabled;
    const subject = toId('endpoint', endpointId);
    const details = { reason };
    await writeAudit(trx, actor ?? serviceActor(workspaceId), {
      ...{ action: 'endpoint.disable', subject, details },
    });
    const data = JSON.stringify({ endpointId: subject, reason });
    const of = { subject: endpointId, agentId: null, user: null };
    await writeEvents(trx, [{ workspaceId, type: 'endpoint.disabled', atMs, ...of, data }]);
  });
}
