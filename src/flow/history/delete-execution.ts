import { CallFailure } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import type { Actor } from '../../core/people/audit.ts';
import type { Pipelines } from '../../store/connection/pipeline.ts';
import { removeRecords } from '../../store/history/removal.ts';
import { sendAudit } from '../../store/people/audit.ts';

/** Deletes one ended record, with a line in the audit. It is a conflict where somebody is at it at this very moment. */
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
  const removed = await removeRecords(pipelines, { ids: [record.id] }, (send, gone) =>
    gone.length > 0 ? [sendAudit(send, actor, line)] : [],
  );
  if (removed.length > 0) return;
  throw new CallFailure('CONFLICT', 'The record is being changed just now. Try again.');
}
