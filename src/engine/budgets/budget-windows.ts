import { announce, type Overrun } from '../../core/budget/announce.ts';
import {
  type Budget,
  type BudgetEvents,
  type BudgetedCall,
  type MatchedWindow,
  matchWindows,
  sharedBucket,
  windowsMax,
} from '../../core/budget/budget.ts';
import { type BudgetWindow, unitsOf, usdOf } from '../../core/budget/reserve.ts';
import type { NewEvent } from '../../core/event/event.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';

/**
 * The windows of budgets in one transaction: read, folded, changed in memory and written.
 *
 *     lock      the limits of their workspaces: admission holds them anyway, and whoever changes a budget
 *     read      delete the settlements of these windows and add them up; read the windows     one round trip
 *     decide    `reserve` of core
 *     write     the windows, and the events of what was folded
 *
 * Invariants
 * - Only the holder of the limits of a workspace reads its windows to decide, or writes them. So a window that does not
 *   exist yet is no special case, and no two transactions fold the same settlement.
 * - Settled and reserved never exceed the limit together, unless a provider charges above a bound or the limit was lowered.
 * - A call is refused only after the settlements of its windows were folded.
 */
export class BudgetWindows {
  readonly #budgets: ReadonlyMap<string, readonly Budget[]>;
  readonly #nowMs: number;
  readonly #needed = new Map<string, MatchedWindow>();
  readonly #windows = new Map<string, ReadWindow>();
  readonly #eventsBefore: ReadonlyMap<Budget, BudgetEvents>;

  /** @param budgets of workspaces. The transaction holds their limits. */
  constructor(budgets: ReadonlyMap<string, readonly Budget[]>, nowMs: number) {
    this.#budgets = budgets;
    this.#nowMs = nowMs;
    const all = [...budgets.values()].flat();
    this.#eventsBefore = new Map(all.map((budget) => [budget, { ...budget.events }]));
  }

  of(workspaceId: string): readonly Budget[] {
    return this.#budgets.get(workspaceId) ?? [];
  }

  /** Notes that a call needs its windows. */
  need(workspaceId: string, call: BudgetedCall): void {
    for (const window of matchWindows(this.of(workspaceId), call, this.#nowMs)) this.add(window);
  }

  add(window: MatchedWindow): void {
    this.#needed.set(keyOf(window), window);
    const shared = { ...window, bucket: sharedBucket };
    if (window.budget.isFull) this.#needed.set(keyOf(shared), shared);
  }

  /** Reads and folds the windows that calls need. Sends nothing if they need none. */
  async read(send: Send): Promise<void> {
    const needed = [...this.#needed.values()];
    if (needed.length === 0) return;
    const [folded, rows] = await Promise.all([
      send(foldSettlements, needed),
      send(readWindows, needed),
    ]);
    const sums = new Map(folded.map((row) => [row.ordinal, row]));
    const windows = new Map(rows.map((row) => [row.ordinal, row]));
    for (const [index, window] of needed.entries()) {
      const row = windows.get(index + 1);
      const sum = sums.get(index + 1);
      this.#windows.set(keyOf(window), readWindow(window, row, sum));
    }
  }

  /** The windows of a call that were read, each once: keys of a call may share one. The caller changes them in place. */
  windowsOf(workspaceId: string, call: BudgetedCall): BudgetWindow[] {
    const windows = matchWindows(this.of(workspaceId), call, this.#nowMs).map((match) => {
      const own = this.#windows.get(keyOf(match));
      const isNew = match.budget.isFull && !own?.exists;
      const read = isNew ? this.#windows.get(keyOf({ ...match, bucket: sharedBucket })) : own;
      if (!read) throw new Error('A window of a budget was not read.');
      return read.window;
    });
    return [...new Set(windows)];
  }

  /** Notes that a window has refused a call because it is spent. */
  refused({ window }: { readonly window: BudgetWindow }): void {
    const read = this.#windows.get(keyOf(window));
    if (read) read.isRefused = true;
  }

  /** What must be written in this transaction. */
  writes(): BudgetWrites {
    const events = [...this.#windows.values()].flatMap(({ window, isRefused, overruns }) =>
      announce(window, { isRefused, overruns }, this.#nowMs),
    );
    const changed = [...this.#windows.values()].filter(hasChanged);
    const windows = changed.map(({ window }) => window);
    return { windows, budgets: this.changedBudgets(), events };
  }

  /** Those whose count of events has changed. */
  changedBudgets(): Budget[] {
    return [...this.#eventsBefore].flatMap(([budget, before]) => {
      const { hour, written, withheld } = budget.events;
      const isSame =
        hour === before.hour && written === before.written && withheld === before.withheld;
      return isSame ? [] : budget;
    });
  }
}

export interface BudgetWrites {
  readonly windows: readonly BudgetWindow[];
  /** Those whose count of events has changed. */
  readonly budgets: readonly Budget[];
  /** The caller writes them last. */
  readonly events: readonly NewEvent[];
}

interface ReadWindow {
  readonly window: BudgetWindow;
  readonly before: BudgetWindow;
  readonly exists: boolean;
  readonly overruns: readonly Overrun[];
  isRefused: boolean;
}

function readWindow(
  match: MatchedWindow,
  row: WindowRow | undefined,
  folded: FoldedRow | undefined,
): ReadWindow {
  const before = {
    ...match,
    reserved: unitsOf(row?.reserved ?? '0'),
    settled: unitsOf(row?.settled ?? '0'),
    calls: row?.calls ?? 0,
    unknownCalls: row?.unknownCalls ?? 0,
    announced: row?.announced ?? [],
  };
  const window = {
    ...before,
    reserved: before.reserved - unitsOf(folded?.released ?? '0'),
    settled: before.settled + unitsOf(folded?.settled ?? '0'),
    calls: before.calls + (folded?.calls ?? 0),
    unknownCalls: before.unknownCalls + (folded?.unknownCalls ?? 0),
  };
  const overruns = (folded?.overruns ?? []).map(({ executionId, beyond }) => {
    return { executionId, beyond: unitsOf(beyond) };
  });
  return { window, before, exists: row !== undefined, overruns, isRefused: false };
}

function hasChanged({ window, before, exists }: ReadWindow): boolean {
  return (
    (!exists && window.isUsed === true) ||
    window.reserved !== before.reserved ||
    window.settled !== before.settled ||
    window.calls !== before.calls ||
    window.announced !== before.announced
  );
}

function keyOf({
  budgetId,
  bucket,
  window,
}: Pick<MatchedWindow, 'budgetId' | 'bucket' | 'window'>) {
  return `${budgetId} ${window} ${bucket}`;
}

export function sendBudgetWrites(
  send: Send,
  { windows, budgets }: Pick<BudgetWrites, 'windows' | 'budgets'>,
): Promise<unknown>[] {
  return [
    ...(windows.length > 0 ? [send(upsertWindows, windows)] : []),
    ...(budgets.length > 0 ? [send(updateBudgetEvents, budgets)] : []),
  ];
}

/** SQL: a budget `b` as JSON. */
export const budgetObject = sql`jsonb_build_object('id', b.id, 'workspaceId', b.workspace_id, 'name', b.name,
  'agentIds', b.agent_ids, 'tags', b.tags, 'per', b.per, 'period', b.period, 'limitUsd', b.limit_usd::text,
  'keys', case when b.api_key_ids is not null then
    array(select k.limit_subjects[1] from api_keys k where k.id = any(b.api_key_ids)) end,
  'maxTokens', b.max_tokens, 'thresholds', b.thresholds, 'onUnknown', b.on_unknown,
  'createdMs', floor(extract(epoch from b.created_at) * 1000)::bigint, 'isFull', b.windows >= ${sql.raw(String(windowsMax))},
  'events', jsonb_build_object('hour', b.events_hour, 'written', b.events_written, 'withheld', b.events_withheld,
    'lastWithheld', b.last_withheld))`;

/** SQL: the enabled budgets of workspace `w` as a JSON array; null if it has none. */
export const budgetsOfWorkspace = sql`(select jsonb_agg(${budgetObject}) from budgets b
  where b.workspace_id = w.id and b.enabled)`;

const needed = rowSet<MatchedWindow>(
  'k',
  {
    budget_id: ['uuid', (one) => one.budgetId],
    bucket: ['text', (one) => one.bucket],
    window_start: ['timestamptz', (one) => one.window],
  },
  { ordinality: true },
);

const ofNeeded = (alias: Sql) => sql`${alias}.budget_id = k.budget_id and ${alias}.bucket = k.bucket
  and ${alias}.window_start = k.window_start`;

interface FoldedRow {
  readonly ordinal: number;
  readonly released: string;
  readonly settled: string;
  readonly calls: number;
  readonly unknownCalls: number;
  readonly overruns: readonly { readonly executionId: string; readonly beyond: string }[] | null;
}

const foldSettlements = statement<readonly MatchedWindow[], FoldedRow>('budgets-fold-settlements')`
  with folded as (
    delete from budget_settlements s using ${needed.table} where ${ofNeeded(sql`s`)}
    returning k.ordinal, s.delta_reserved, s.delta_settled, s.sent, s.unknown, s.calls, s.execution_id)
  select ordinal::int, (-sum(delta_reserved))::text as released, sum(delta_settled)::text as settled,
    coalesce(sum(calls) filter (where sent), 0)::int as calls,
    coalesce(sum(calls) filter (where unknown), 0)::int as unknown_calls,
    jsonb_agg(jsonb_build_object('executionId', execution_id, 'beyond', (delta_settled + delta_reserved)::text))
      filter (where delta_settled + delta_reserved > 0) as overruns
  from folded group by ordinal`;

interface WindowRow {
  readonly ordinal: number;
  readonly reserved: string;
  readonly settled: string;
  readonly calls: number;
  readonly unknownCalls: number;
  readonly announced: readonly number[];
}

const readWindows = statement<readonly MatchedWindow[], WindowRow>('budgets-read-windows')`
  select k.ordinal::int, w.reserved::text, w.settled::text, w.calls, w.unknown_calls, w.announced
  from ${needed.table} join budget_windows w on ${ofNeeded(sql`w`)}`;

const written = rowSet<BudgetWindow>('w', {
  budget_id: ['uuid', (one) => one.budgetId],
  bucket: ['text', (one) => one.bucket],
  window_start: ['timestamptz', (one) => one.window],
  window_end: ['timestamptz', ({ endMs }) => endMs && new Date(endMs).toISOString()],
  workspace_id: ['uuid', ({ budget }) => budget.workspaceId],
  reserved: ['numeric', (one) => usdOf(one.reserved)],
  settled: ['numeric', (one) => usdOf(one.settled)],
  calls: ['bigint', (one) => one.calls],
  unknown_calls: ['bigint', (one) => one.unknownCalls],
  announced: ['text', ({ announced }) => `{${announced.join(',')}}`],
});

const upsertWindows = statement<readonly BudgetWindow[]>('budgets-upsert-windows')`
  insert into budget_windows as b (budget_id, bucket, window_start, window_end, workspace_id, reserved, settled, calls,
    unknown_calls, announced)
  select budget_id, bucket, window_start, window_end, workspace_id, reserved, settled, calls, unknown_calls,
    announced::int[]
  from ${written.table}
  on conflict (budget_id, bucket, window_start) do update set reserved = excluded.reserved, settled = excluded.settled,
    calls = excluded.calls, unknown_calls = excluded.unknown_calls, announced = excluded.announced`;

const reporting = rowSet<Budget>('r', {
  id: ['uuid', ({ id }) => id],
  hour: ['bigint', ({ events }) => events.hour],
  written: ['int', ({ events }) => events.written],
  withheld: ['int', ({ events }) => events.withheld],
  last_withheld: [
    'json',
    ({ events }) => events.lastWithheld && JSON.stringify(events.lastWithheld),
  ],
});

const updateBudgetEvents = statement<readonly Budget[]>('budgets-update-events')`
  update budgets b set events_hour = r.hour, events_written = r.written, events_withheld = r.withheld,
    last_withheld = r.last_withheld
  from ${reporting.table} where b.id = r.id`;
