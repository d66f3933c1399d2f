import { CallFailure } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import type { Actor } from '../../../core/people/audit.ts';
import type { Pipelines } from '../../../db/pipeline.ts';
import { forgetExecutions } from '../../../engine/complete/events.ts';
import { sendAudit } from '../../people/statements/audit-statements.ts';
import { deleteRecords } from '../statements/deletion.ts';

/** Deletes one record and writes an audit entry. A record that is locked is a conflict. */
export async function deleteExecution(
  pipelines: Pipelines,
  actor: Actor,
  record: { readonly id: string; readonly agentId: string },
): Promise<void> {
  const line = {
    action: 'execution.delete',
    subject: toId('execution', record.id),
    details: { agentId: toId('agent', record.agentId) },
  } as const;
  const deletedRecords = await deleteRecords(pipelines, { ids: [record.id] }, (send, deleted) =>
    deleted.length > 0 ? [forgetExecutions(send, deleted), sendAudit(send, actor, line)] : [],
  );
  if (deletedRecords.length > 0) return;
  throw new CallFailure('CONFLICT', 'The record is being changed by another request. Try again.');
}
