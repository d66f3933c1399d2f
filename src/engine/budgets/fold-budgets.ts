import { withheldEvents } from '../../core/budget/announce.ts';
import { type Budget, budgetPeriod, type WindowKey } from '../../core/budget/budget.ts';
import type { Db } from '../../db/database.ts';
import type { Notifications } from '../../db/notifications.ts';
import type { Pipelines, Send } from '../../db/pipeline.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { begin, commit } from '../../db/statements.ts';
import { sendEvents } from '../complete/events.ts';
import { retryTransaction } from '../transaction/retry-transaction.ts';
import { BudgetWindows, budgetObject, sendBudgetWrites } from './budget-windows.ts';
import { lockWorkspaces } from './reserve-calls.ts';

/**
 * A round of every worker: folds settlements that no admission has folded, so that thresholds are announced and windows can
 * be deleted although nothing is called any more. Several processes may run it at once: who comes second finds nothing to fold.
 * Limits of workflow runs announce nothing, and their windows are deleted with what is not folded: only admission folds it.
 */
export interface FoldDeps {
  readonly db: Db;
  readonly pipelines: Pipelines;
  readonly notifications: Pick<Notifications, 'publish'>;
}

/** Admission folds what it needs itself. */
export const foldAfterSeconds = 5;
/** Windows of a round. */
const windowsPerRound = 1_000;

export async function foldBudgets(deps: FoldDeps): Promise<void> {
  for (const [workspaceId, due] of await dueWindows(deps.db)) {
    await retryTransaction(() => foldWorkspace(deps, workspaceId, due));
  }
}

/** Windows with old settlements, and workspaces whose budgets have withheld events of an earlier hour, by workspace. */
async function dueWindows(db: Db): Promise<Map<string, WindowKey[]>> {
  const { rows } = await sql<DueRow>`
    select b.workspace_id, s.budget_id, s.bucket, s.window_start
    from (
      select distinct budget_id, bucket, window_start from budget_settlements s
      where exists (select from budgets b where b.id = s.budget_id)
        and settled_at < clock_timestamp() - make_interval(secs => ${foldAfterSeconds}) limit ${windowsPerRound}) as s
    join budgets b on b.id = s.budget_id
    union all
    select workspace_id, id, null, null from budgets
    where events_withheld > 0 and events_hour < floor(extract(epoch from clock_timestamp()) / 3600)`.execute(
    db,
  );
  const due = new Map<string, WindowKey[]>();
  for (const { workspaceId, budgetId, bucket, windowStart } of rows) {
    const own = due.get(workspaceId) ?? [];
    due.set(workspaceId, own);
    if (bucket === null || windowStart === null) continue;
    own.push({ budgetId, bucket, window: windowStart.toISOString() });
  }
  return due;
}

interface DueRow {
  readonly workspaceId: string;
  readonly budgetId: string;
  readonly bucket: string | null;
  readonly windowStart: Date | null;
}

async function foldWorkspace(
  { pipelines, notifications }: FoldDeps,
  workspaceId: string,
  due: readonly WindowKey[],
): Promise<void> {
  const hasEvents = await pipelines.use(async (send) => {
    const [, , rows] = await Promise.all([
      send(begin),
      send(lockWorkspaces, [workspaceId]),
      send(readAllBudgets, workspaceId),
    ]);
    return foldDue(send, rows, due);
  });
  if (hasEvents) notifications.publish('cueline_event_queued');
}

async function foldDue(
  send: Send,
  rows: readonly BudgetRow[],
  due: readonly WindowKey[],
): Promise<boolean> {
  const nowMs = Math.trunc(rows[0]?.nowMs ?? 0);
  const budgets = new Map(rows.map(({ budget }) => [budget.id, budget]));
  const windows = new BudgetWindows(new Map([['', [...budgets.values()]]]), nowMs);
  for (const window of due) {
    const budget = budgets.get(window.budgetId);
    if (!budget) continue;
    const { endMs } = budgetPeriod(budget, Date.parse(window.window));
    windows.add({ ...window, budget, endMs });
  }
  await windows.read(send);
  // First: what is announced now belongs to this hour.
  const earlier = [...budgets.values()].flatMap((budget) => withheldEvents(budget, nowMs));
  const { events, ...writes } = windows.writes();
  const sent = sendBudgetWrites(send, writes);
  const [hasEvents] = await Promise.all([
    sendEvents(send, [...earlier, ...events]),
    send(commit),
    ...sent,
  ]);
  return hasEvents;
}

interface BudgetRow {
  readonly budget: Budget;
  readonly nowMs: number;
}

/** Disabled ones too: what their calls have reserved is settled. */
const readAllBudgets = statement<string, BudgetRow>('budgets-read-all')`
  select ${budgetObject} as budget, (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
  from budgets b where b.workspace_id = ${(id) => id}`;

/** How long the oldest settlement has waited to be folded, in seconds. */
export async function readFoldLag(db: Db): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select greatest(0, coalesce(extract(epoch from clock_timestamp() - min(settled_at)), 0))::float8 as seconds
    from budget_settlements s where exists (select from budgets b where b.id = s.budget_id)`.execute(
    db,
  );
  return rows[0]?.seconds ?? 0;
}

/** Deletes what is needed no longer, and counts what is left. */
export async function maintainWindows(db: Db): Promise<void> {
  await deleteOldWindows(db);
  await countWindows(db);
}

/** Deletes windows that ended two periods ago and hold nothing any more, and what has lost its budget. */
async function deleteOldWindows(db: Db): Promise<void> {
  await sql`
    delete from budget_settlements s where ${isUnneeded(sql`s.budget_id`)}`.execute(db);
  await sql`
    delete from budget_windows where (budget_id, bucket, window_start) in (
      select w.budget_id, w.bucket, w.window_start from budget_windows w
      where ${isUnneeded(sql`w.budget_id`)}
        or (w.window_end + 2 * (w.window_end - w.window_start) < clock_timestamp() and w.reserved = 0
          and not exists (select from budget_settlements s where s.budget_id = w.budget_id
            and s.bucket = w.bucket and s.window_start = w.window_start))
      limit ${deletedPerRound} for update skip locked)`.execute(db);
}

const deletedPerRound = 10_000;

/**
 * SQL: neither a budget nor a workflow run that may call an agent has the id. Once a run has ended and none of its executions
 * is in the queue, nothing reserves in its window any more; it stays for an hour, to show what it has spent.
 */
const isUnneeded = (id: Sql) => sql`(not exists (select from budgets b where b.id = ${id})
  and not exists (select from workflow_runs r where r.id = ${id}
    and (r.completed_at is null or r.completed_at > clock_timestamp() - interval '1 hour'
      or exists (select from execution_queue q where q.workflow_run_id = r.id))))`;

/** Counts the windows of each budget that have not ended: too many, and new buckets share one. */
async function countWindows(db: Db): Promise<void> {
  await sql`
    with free as materialized (select id from budgets order by id for no key update skip locked),
    counted as (
      select id, (select count(*) from budget_windows w where w.budget_id = free.id
        and (w.window_end is null or w.window_end > clock_timestamp())) as n from free)
    update budgets b set windows = counted.n from counted where b.id = counted.id and b.windows <> counted.n`.execute(
    db,
  );
}
