import type { Db } from '../store/db.ts';
import { lockLimits } from '../store/limits.ts';
import { updatePlan } from '../store/usage.ts';

export interface Plan {
  readonly name: string;
  /** AI Actions; null counts without a cap. */
  readonly actionsPerMonth: number | null;
}

/** Holds from the next call on: admission decides under the same lock. */
export async function setPlan(db: Db, workspaceId: string, plan: Plan): Promise<void> {
  await db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      await lockLimits(trx, [workspaceId]);
      await updatePlan(trx, workspaceId, plan);
    });
}
