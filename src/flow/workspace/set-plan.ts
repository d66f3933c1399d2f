import { toId } from '../../core/id.ts';
import type { Actor } from '../../core/people/audit.ts';
import { lockLimits } from '../../store/admission/limits.ts';
import type { Db } from '../../store/connection/database.ts';
import { writeAudit } from '../../store/people/audit.ts';
import { updatePlan } from '../../store/people/usage.ts';

export interface Plan {
  readonly name: string;
  /** AI Actions; null counts without a cap. */
  readonly actionsPerMonth: number | null;
}

/** Holds from the next call on: admission decides under the same lock. */
export async function setPlan(db: Db, actor: Actor, plan: Plan): Promise<void> {
  const { workspaceId } = actor;
  await db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      await lockLimits(trx, [workspaceId]);
      await updatePlan(trx, workspaceId, plan);
      const line = { subject: toId('workspace', workspaceId), details: { ...plan } };
      await writeAudit(trx, actor, { action: 'plan.change', ...line });
    });
}
