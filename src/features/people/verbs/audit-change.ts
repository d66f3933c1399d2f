import { type IdKind, toId } from '../../../core/id.ts';
import { type AuditAction, actorOf } from '../../../core/people/audit.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { Trx } from '../../../db/database.ts';
import { writeAudit } from '../statements/audit-statements.ts';

/** Records what a caller did to an object, whose kind is the first part of the action: `webhook.create` of a webhook. */
export function auditChange(
  trx: Trx,
  caller: Caller,
  action: Extract<AuditAction, `${IdKind}.${string}`>,
  id: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const kind = action.slice(0, action.indexOf('.')) as IdKind;
  return writeAudit(trx, actorOf(caller), { action, subject: toId(kind, id), details });
}
