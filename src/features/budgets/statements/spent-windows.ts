import { statementTime } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';

/**
 * What the windows of budgets have spent, for people. The ends of calls insert settlements, which are folded into the windows
 * later, in one transaction: a statement that adds up both sees each once.
 */

export interface WindowRow {
  readonly bucket: string;
  readonly windowStart: Date;
  readonly windowEnd: Date | null;
  /** Decimal text, like the others. */
  readonly settledUsd: string;
  readonly reservedUsd: string;
  readonly leftUsd: string;
  readonly calls: number;
  readonly unknownCalls: number;
}

/** The place of a window in the list: the next page continues after it. */
export interface WindowPlace {
  readonly start: string;
  readonly used: string;
  readonly bucket: string;
}

/** SQL: the windows of a budget as `w`, with what is not folded yet; of one bucket if one is given. */
function windowsOf(budgetId: Sql, bucket: string | null): Sql {
  const isWanted = bucket === null ? sql`` : sql`and s.bucket = ${bucket}`;
  return sql`(
    select s.bucket, s.window_start, s.window_end, s.settled + coalesce(n.settled, 0) as settled,
      s.reserved + coalesce(n.reserved, 0) as reserved, s.calls + coalesce(n.calls, 0) as calls,
      s.unknown_calls + coalesce(n.unknown_calls, 0) as unknown_calls
    from budget_windows s left join (
      select bucket, window_start, sum(delta_settled) as settled, sum(delta_reserved) as reserved,
        sum(calls) filter (where sent) as calls, sum(calls) filter (where unknown) as unknown_calls
      from budget_settlements where budget_id = ${budgetId} group by bucket, window_start) n using (bucket, window_start)
    where s.budget_id = ${budgetId} ${isWanted}) as w`;
}

/** The latest windows first, and of these the fullest first. */
export async function listWindows(
  db: Db,
  { id, limitUsd }: { readonly id: string; readonly limitUsd: string },
  page: {
    readonly bucket: string | null;
    readonly after: WindowPlace | null;
    readonly limit: number;
  },
): Promise<(WindowRow & { readonly place: WindowPlace })[]> {
  const { bucket, after, limit } = page;
  const used = sql`(w.settled + w.reserved)`;
  const isNext = after
    ? sql`where w.window_start < ${after.start}::timestamptz or w.window_start = ${after.start}::timestamptz
        and (${used} < ${after.used}::numeric or ${used} = ${after.used}::numeric and w.bucket collate "C" > ${after.bucket})`
    : sql``;
  const { rows } = await sql<WindowRow & { readonly place: WindowPlace }>`
    select w.bucket, w.window_start, w.window_end, w.settled as settled_usd, w.reserved as reserved_usd,
      greatest(${limitUsd}::numeric - ${used}, 0) as left_usd, w.calls, w.unknown_calls,
      jsonb_build_object('start', w.window_start, 'used', ${used}::text, 'bucket', w.bucket) as place
    from ${windowsOf(sql`${id}`, bucket)} ${isNext}
    order by w.window_start desc, ${used} desc, w.bucket collate "C" limit ${limit}`.execute(db);
  return rows;
}

/** What the fullest current window of a budget has settled, as a share of its limit; null without such a budget. */
export async function readBudgetUsed(db: Db, budgetId: string | null): Promise<number | null> {
  const { rows } = await sql<{ share: number }>`
    select (coalesce(max(w.settled), 0) / b.limit_usd)::float8 as share
    from budgets b left join ${windowsOf(sql`${budgetId}::uuid`, null)}
      on w.window_end is null or w.window_end > ${statementTime}
    where b.id = ${budgetId} group by b.id`.execute(db);
  return rows[0]?.share ?? null;
}
