import { toId } from '../../../core/id.ts';
import type { Actor } from '../../../core/people/audit.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { lockLimits } from '../../../engine/fields/limit-rows.ts';
import { writeAudit } from '../statements/audit-statements.ts';
import { updatePlan } from '../statements/usage-statements.ts';

export interface Plan {
  readonly name: string;
  /** AI Actions; null for no cap. */
  readonly actionsPerMonth: number | null;
}

/** Takes effect with the next call, because admission takes the same lock. */
export async function setPlan(db: Db, actor: Actor, plan: Plan): Promise<void> {
  const { workspaceId } = actor;
  await inTransaction(db, async (trx) => {
    await lockLimits(trx, [workspaceId]);
    await updatePlan(trx, workspaceId, plan);
    const line = { subject: toId('workspace', workspaceId), details: { ...plan } };
    await writeAudit(trx, actor, { action: 'plan.change', ...line });
  });
}
