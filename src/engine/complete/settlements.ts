import type { Reservation } from '../../core/budget/budget.ts';
import { unitsOf, usdOf } from '../../core/budget/reserve.ts';
import type { Cost } from '../../core/model/model-port.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';

/**
 * Settlements: what the end of a model call takes from the reservations of its execution and adds to what is spent. They are only
 * inserted, in the transaction that ends or releases the execution, so that an end waits for no budget. Admission and a
 * round fold them into the windows (`budget-windows.ts`).
 *
 * Until then a window looks fuller than it is, never emptier.
 */

/** A call whose reservations end. */
export interface SettledCall {
  readonly executionId: string;
  /** The claim of the execution. */
  readonly call: number;
  readonly reservations: readonly Reservation[];
  readonly cost: Cost;
  readonly isSent: boolean;
}

/** Calls that end together and settle alike in a window: one row, because each row is inserted, indexed and folded. */
interface Settlement extends Omit<Reservation, 'usd'>, Pick<SettledCall, 'isSent'> {
  /** The first of them. */
  readonly executionId: string;
  readonly call: number;
  readonly isKnown: boolean;
  readonly isOverrun: boolean;
  calls: number;
  reserved: bigint;
  settled: bigint;
}

/** Overruns stay apart: each is an event of its own. */
function sumSettlements(calls: readonly SettledCall[]): Settlement[] {
  const sums = new Map<string, Settlement>();
  for (const { executionId, call, reservations, cost, isSent } of calls) {
    const isKnown = cost.known;
    for (const { usd, ...window } of reservations) {
      const reserved = unitsOf(usd);
      // Its bound if the cost is unknown, because the provider may have charged it.
      const settled = isKnown ? unitsOf(cost.usd) : reserved;
      const isOverrun = settled > reserved;
      const { budgetId, window: start, bucket } = window;
      const key = `${budgetId} ${start} ${isKnown} ${isSent} ${isOverrun && executionId} ${bucket}`;
      const sum = sums.get(key);
      if (sum) {
        sum.calls++;
        sum.reserved += reserved;
        sum.settled += settled;
        continue;
      }
      const amounts = { calls: 1, reserved, settled };
      sums.set(key, { ...window, ...amounts, executionId, call, isKnown, isSent, isOverrun });
    }
  }
  return [...sums.values()];
}

const settlements = rowSet<Settlement>('s', {
  budget_id: ['uuid', ({ budgetId }) => budgetId],
  bucket: ['text', ({ bucket }) => bucket],
  window_start: ['timestamptz', ({ window }) => window],
  reserved: ['numeric', ({ reserved }) => usdOf(reserved)],
  settled: ['numeric', ({ settled }) => usdOf(settled)],
  sent: ['bool', ({ isSent }) => isSent],
  unknown: ['bool', ({ isKnown }) => !isKnown],
  calls: ['int', ({ calls }) => calls],
  execution_id: ['uuid', ({ executionId }) => executionId],
  call: ['int', ({ call }) => call],
});

/** Settles calls whose ends are sent in one transaction. */
export function settleCalls(send: Send, calls: readonly SettledCall[]): Promise<unknown> {
  return send(insertSettlements, sumSettlements(calls));
}

/**
 * SQL: settles the reservations of rows of the queue; only rows with a known cost are charged less or more than their bound.
 * @param rows with the column `reservations`, and an alias
 */
export const settleReservations = (
  rows: Sql,
  {
    id,
    attempt,
    usd,
    isKnown,
    isSent,
  }: Readonly<Record<'id' | 'attempt' | 'usd' | 'isKnown' | 'isSent', Sql>>,
) => sql`
  insert into budget_settlements (budget_id, bucket, window_start, delta_reserved, delta_settled, sent, unknown,
    execution_id, call)
  select (r ->> 'budgetId')::uuid, r ->> 'bucket', (r ->> 'window')::timestamptz, -(r ->> 'usd')::numeric,
    case when ${isKnown} then ${usd} else (r ->> 'usd')::numeric end, ${isSent}, not ${isKnown}, ${id}, ${attempt}
  from ${rows} cross join lateral jsonb_array_elements(reservations) as r`;

const insertSettlements = statement<readonly Settlement[]>('completion-insert-settlements')`
  insert into budget_settlements (budget_id, bucket, window_start, delta_reserved, delta_settled, sent, unknown, calls,
    execution_id, call)
  select budget_id, bucket, window_start, -reserved, settled, sent, unknown, calls, execution_id, call
  from ${settlements.table}`;
