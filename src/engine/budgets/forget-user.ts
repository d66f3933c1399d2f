import { randomUUID } from 'node:crypto';
import type { Trx } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { forgetUserOfBudgets } from '../complete/events.ts';
import { lockLimits } from '../fields/limit-rows.ts';

/**
 * Gives the windows of an erased user a name that says nothing. They keep their figures, so what a budget has spent stays exact,
 * and a later call of the same user finds a new window.
 *
 * A reservation names its window in three places. All of them change here, or a settlement would be folded into a window without
 * the reservation.
 * - No call reserves meanwhile: whoever does holds the limits of the workspace.
 * - A call that ends meanwhile holds its queue row. So the queue comes first: what has left it has inserted its settlements.
 */
export interface ForgottenUser {
  readonly workspaceId: string;
  /** Only budgets for nothing but this agent; null for all. */
  readonly agentId: string | null;
  readonly user: string;
}

export async function forgetUserInBudgets(trx: Trx, forgotten: ForgottenUser): Promise<void> {
  const { workspaceId, user } = forgotten;
  await lockLimits(trx, [workspaceId]);
  const budgetIds = await budgetsOfUser(trx, forgotten);
  if (budgetIds.length === 0) return;
  const name = `erased-${randomUUID()}`;
  // An erasure may have removed the user of the execution, and not its reservations.
  await sql`
    with holding as materialized (
      select id from execution_queue where workspace_id = ${workspaceId} and (end_user = ${user} or erased)
        and reservations @> ${JSON.stringify([{ bucket: user }])}::jsonb order by id for update)
    update execution_queue set reservations = (
      select jsonb_agg(case when r ->> 'bucket' = ${user} and (r ->> 'budgetId')::uuid = any(${budgetIds}::uuid[])
        then r || ${JSON.stringify({ bucket: name })}::jsonb else r end order by n)
      from jsonb_array_elements(reservations) with ordinality as reservation (r, n))
    where id = any(array(select id from holding)) and reservations is not null`.execute(trx);
  for (const table of ['budget_settlements', 'budget_windows']) {
    await sql`
      update ${sql.table(table)} set bucket = ${name}
      where budget_id = any(${budgetIds}::uuid[]) and bucket = ${user}`.execute(trx);
  }
  await sql`
    update budgets set last_withheld = (last_withheld::jsonb || jsonb_build_object('user', null,
      'data', (((last_withheld ->> 'data')::jsonb || ${JSON.stringify({ bucket: name })}::jsonb)::text)))::json
    where id = any(${budgetIds}::uuid[]) and last_withheld ->> 'user' = ${user}`.execute(trx);
  await forgetUserOfBudgets(trx, { workspaceId, budgetIds, user });
}

/** The budgets that name the user. */
async function budgetsOfUser(
  trx: Trx,
  { workspaceId, agentId, user }: ForgottenUser,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select b.id from budgets b
    where b.workspace_id = ${workspaceId} and b.per = 'user'
      and (${agentId}::uuid is null or b.agent_ids = array[${agentId}::uuid])
      and (b.last_withheld ->> 'user' = ${user}
        or exists (select from budget_windows w where w.budget_id = b.id and w.bucket = ${user})
        or exists (select from budget_settlements s where s.budget_id = b.id and s.bucket = ${user})
        or exists (select from events e where e.workspace_id = b.workspace_id and e.end_user = ${user} and e.subject = b.id))
    order by b.id`.execute(trx);
  return rows.map(({ id }) => id);
}
