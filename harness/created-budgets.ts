import { fromId } from '../src/core/id.ts';
import { sql } from '../src/db/sql.ts';
import type { Service } from './service.ts';

export const budgetSettings = { name: 'Everything', per: 'none', period: 'month', limitUSD: 20 };

/** A budget of a test, created through the API. */
export async function createBudget(service: Pick<Service, 'call'>, key: string, settings = {}) {
  const body = { ...budgetSettings, ...settings };
  const created = await service.call('POST', '/api/v1/budgets', { key, body });
  if (created.status !== 201) throw new Error(created.body.message);
  return { ...created.body, path: `/api/v1/budgets/${created.body.budgetId}` };
}

interface Spent {
  readonly bucket?: string;
  /** The window that is current; earlier ones are that many periods before. */
  readonly periodsAgo?: number;
  readonly settled?: number;
  readonly reserved?: number;
  readonly calls?: number;
}

/** What a window has spent, as if calls had. */
export async function addWindow(
  { db, workspaceId }: Pick<Service, 'db' | 'workspaceId'>,
  budgetId: string,
  { bucket = '', periodsAgo = 0, settled = 0, reserved = 0, calls = 1 }: Spent,
): Promise<void> {
  await sql`
    insert into budget_windows (budget_id, bucket, window_start, window_end, workspace_id, settled, reserved, calls)
    select id, ${bucket}, w.start, w.start + w.length, ${workspaceId}, ${settled}, ${reserved}, ${calls}
    from budgets cross join lateral (select p.length,
      (date_trunc(period, clock_timestamp() at time zone 'UTC') - ${periodsAgo} * p.length) at time zone 'UTC' as start
      from (select ('1 ' || period)::interval as length) p) w
    where id = ${fromId('budget', budgetId)}`.execute(db);
}

/** The end of a call that has not been folded into its window yet. */
export async function addSettlement(
  { db }: Pick<Service, 'db'>,
  budgetId: string,
  {
    bucket = '',
    ...delta
  }: { bucket?: string; reserved: number; settled: number; unknown?: boolean },
): Promise<void> {
  await sql`
    insert into budget_settlements (budget_id, bucket, window_start, delta_reserved, delta_settled, sent, unknown,
      execution_id, call)
    select budget_id, bucket, window_start, ${delta.reserved}, ${delta.settled}, true, ${delta.unknown ?? false},
      gen_random_uuid(), 1
    from budget_windows where budget_id = ${fromId('budget', budgetId)} and bucket = ${bucket}`.execute(
    db,
  );
}
