import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** The plan and usage of a workspace. */

export interface UsageRow {
  readonly planName: string;
  readonly actionsPerMonth: number | null;
  /** The month of the count, as `monthOf` numbers it. Admission advances it. */
  readonly month: number;
  readonly monthUsed: number;
  readonly nowMs: number;
}

export async function readUsage(db: Db, workspaceId: string): Promise<UsageRow> {
  const { rows } = await sql<UsageRow>`
    select w.plan_name, w.actions_per_month, l.month, l.month_used,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
    from workspaces w join limits l on l.subject = w.id
    where w.id = ${workspaceId}`.execute(db);
  if (!rows[0]) throw new Error('The workspace has no row of limits.');
  return rows[0];
}

/** Needs the lock of the workspace's limits. */
export async function updatePlan(
  trx: Trx,
  workspaceId: string,
  plan: { readonly name: string; readonly actionsPerMonth: number | null },
): Promise<void> {
  await sql`
    update workspaces set plan_name = ${plan.name}, actions_per_month = ${plan.actionsPerMonth}
    where id = ${workspaceId}`.execute(trx);
}
