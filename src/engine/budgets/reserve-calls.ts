import type { Budget, BudgetedCall, Reservation, RunLimit } from '../../core/budget/budget.ts';
import {
  type BudgetRefusal,
  budgetRefusal,
  isInWindow,
  reserveInstead,
} from '../../core/budget/reserve.ts';
import type { QueuedExecution } from '../../core/execution/queued-execution.ts';
import type { CallBound, Unbounded } from '../../core/model/call-bound.ts';
import { noCost } from '../../core/model/model-port.ts';
import type { Notifications } from '../../db/notifications.ts';
import type { Pipelines, Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { statement } from '../../db/statement.ts';
import { begin, commit } from '../../db/statements.ts';
import { sendEvents } from '../complete/events.ts';
import { type SettledCall, settleCalls } from '../complete/settlements.ts';
import { lanes } from '../transaction/batcher.ts';
import { transactBatch } from '../transaction/retry-transaction.ts';
import { BudgetWindows, budgetsOfWorkspace, sendBudgetWrites } from './budget-windows.ts';

/**
 * Reserves the later calls of executions: retries, fallbacks, and those that were accepted before a budget existed. Admission
 * reserves the first call.
 *
 *     lock      the limits of their workspaces, then their queue rows; read budgets and the clock
 *     read      fold and read the windows
 *     write     windows, the reservations of the queue rows, events; commit
 *
 * Invariants
 * - A call is sent after the commit of its reservation, by the claim that holds the queue row.
 * - A queue row names at most the reservations of one call. What it named of a call that was not sent is replaced in the same
 *   window, and settled with zero in another one.
 *
 * Failure cases
 * - The commit gets no response: the attempt is given up as unsent. Its row keeps what was committed for the next claim.
 * - The process dies after the commit: the sweep settles the bound, because the call may have been sent.
 */
export interface CallToReserve {
  readonly execution: QueuedExecution;
  readonly bound: CallBound | Unbounded;
}

export type CallReservation =
  | { readonly kind: 'reserved' }
  /** The claim does not hold the execution any more. */
  | { readonly kind: 'lost' }
  /** A budget refuses calls without a known price, and each budget those that have no bound because of an option. */
  | { readonly kind: 'unbounded' }
  | ({ readonly kind: 'exceeded' } & Pick<BudgetRefusal, 'code' | 'message'>);

export type ReserveCall = (call: CallToReserve) => Promise<CallReservation>;

export interface ReserveDeps {
  readonly pipelines: Pipelines;
  readonly notifications: Pick<Notifications, 'publish'>;
}

const batchMax = 500;

export function createReserveCall({ pipelines, notifications }: ReserveDeps): ReserveCall {
  const { add } = lanes<CallToReserve, CallReservation>({
    ...{ sizeMax: batchMax, inFlightMax: 1, weight: () => 0 },
    run: (calls) =>
      transactBatch(calls, async (some) => {
        const { results, hasEvents } = await pipelines.use((send) => transact(send, some));
        if (hasEvents) notifications.publish('cueline_event_queued');
        return results;
      }),
  });
  return add;
}

async function transact(send: Send, calls: readonly CallToReserve[]) {
  const ids = calls.map(({ execution }) => execution.id);
  const workspaceIds = [...new Set(calls.map(({ execution }) => execution.workspaceId))];
  const [, , rows, workspaces] = await Promise.all([
    send(begin),
    send(lockWorkspaces, workspaceIds),
    send(lockQueueRows, ids),
    send(readBudgets, workspaceIds),
  ]);
  const nowMs = Math.trunc(workspaces[0]?.nowMs ?? Number.NaN);
  const windows = new BudgetWindows(
    new Map(workspaces.map(({ id, budgets }) => [id, budgets ?? []])),
    nowMs,
  );
  const owned = new Map(rows.map((row) => [row.id, row]));
  const claimed = calls.map((call) => claimedCall(call, owned.get(call.execution.id)));
  for (const one of claimed) {
    if (one) windows.need(one.execution.workspaceId, one.budgeted);
  }
  await windows.read(send);
  const reserved: ReservedRow[] = [];
  const released: SettledCall[] = [];
  const results = claimed.map((one): CallReservation => {
    if (!one) return { kind: 'lost' };
    const { execution, bound, row } = one;
    const matched = windows.windowsOf(execution.workspaceId, one.budgeted);
    const before = row.reservations ?? [];
    if (bound.kind === 'unbounded' && bound.option !== null && matched.length > 0) {
      return { kind: 'unbounded' };
    }
    const needed = bound.kind === 'bound' ? bound.usd : null;
    const decision = reserveInstead(matched, needed, before);
    if (decision.kind === 'unbounded') return decision;
    if (decision.kind === 'exceeded') {
      const { isSpent, code, message } = budgetRefusal(decision, { nowMs, showsMoney: true });
      if (isSpent) windows.refused(decision);
      return { kind: 'exceeded', code, message };
    }
    const { reservations } = decision;
    const usd = reservations[0]?.usd ?? null;
    reserved.push({ id: execution.id, reservations, usd });
    const others = before.filter((one) => !matched.some((window) => isInWindow(one, window)));
    if (others.length > 0) released.push(unsent(execution, others));
    return { kind: 'reserved' };
  });
  const { events, ...writes } = windows.writes();
  // Events come last: the counter of a workspace stays locked until the commit.
  const sent = [
    ...sendBudgetWrites(send, writes),
    ...(reserved.length > 0 ? [send(writeReservations, reserved)] : []),
    ...(released.length > 0 ? [settleCalls(send, released)] : []),
  ];
  const [hasEvents] = await Promise.all([sendEvents(send, events), send(commit), ...sent]);
  return { results, hasEvents };
}

/** Null if the claim of the call does not hold the execution any more. */
function claimedCall({ execution, bound }: CallToReserve, row: QueueRow | undefined) {
  if (row?.worker !== execution.worker || row.attempt !== execution.attempt) return null;
  const { user = null, tags } = execution.labels ?? {};
  const budgeted: BudgetedCall = {
    ...{ agentId: execution.agentId, user, tags: tags ?? [] },
    ...{ keys: row.keys ?? [], run: row.run },
  };
  return { execution, bound, row, budgeted };
}

function unsent({ id, attempt }: QueuedExecution, reservations: readonly Reservation[]) {
  return { executionId: id, call: attempt, reservations, cost: noCost, isSent: false };
}

/** Whoever holds it may read and change the budgets of the workspace. */
export const lockWorkspaces = statement<readonly string[]>('budgets-lock-workspaces')`
  select subject from limits where subject = any(${(ids) => ids}::uuid[]) order by subject for update`;

interface QueueRow {
  readonly id: string;
  readonly worker: string | null;
  readonly attempt: number;
  readonly reservations: readonly Reservation[] | null;
  /** The limit subjects of its key and of those that issued it; null without a key. */
  readonly keys: readonly string[] | null;
  /** The limit of its workflow run; null for none. */
  readonly run: RunLimit | null;
}

const lockQueueRows = statement<readonly string[], QueueRow>('budgets-lock-queue-rows')`
  select q.id, q.worker, q.attempt, q.reservations,
    (select k.limit_subjects from api_keys k where k.id = q.api_key_id) as keys,
    (select jsonb_build_object('runId', r.id, 'workspaceId', r.workspace_id, 'limitUsd', r.max_cost_usd::text)
      from workflow_runs r where r.id = q.workflow_run_id and r.max_cost_usd is not null) as run
  from execution_queue q where q.id = any(${(ids) => ids}::uuid[]) order by q.id for update of q`;

interface WorkspaceBudgets {
  readonly id: string;
  readonly nowMs: number;
  readonly budgets: readonly Budget[] | null;
}

const readBudgets = statement<readonly string[], WorkspaceBudgets>('budgets-of-workspaces')`
  select w.id, (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, ${budgetsOfWorkspace} as budgets
  from workspaces w where w.id = any(${(ids) => ids}::uuid[])`;

interface ReservedRow {
  readonly id: string;
  readonly reservations: readonly Reservation[];
  /** The bound; null if no budget concerns the call. */
  readonly usd: string | null;
}

const reservedRows = rowSet<ReservedRow>('r', {
  id: ['uuid', (one) => one.id],
  reservations: ['jsonb', (one) => JSON.stringify(one.reservations)],
  usd: ['numeric', (one) => one.usd],
});

const writeReservations = statement<readonly ReservedRow[]>('budgets-write-reservations')`
  update execution_queue q set reservations = r.reservations,
    reserved_usd = case when r.usd is null then q.reserved_usd
      else coalesce(q.reserved_usd, 0) - coalesce((q.reservations -> 0 ->> 'usd')::numeric, 0) + r.usd end,
    overrun_usd = case when r.usd is null then q.overrun_usd else coalesce(q.overrun_usd, 0) end
  from ${reservedRows.table} where q.id = r.id`;
