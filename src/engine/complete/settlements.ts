import type { Reservation } from '../../core/budget/budget.ts';
import type { Cost } from '../../core/model/model-port.ts';
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

/** What a reservation becomes: the cost if it is known, else its bound, which the provider may have charged. */
function settledUsd({ usd }: Reservation, { cost }: SettledCall): string {
  return cost.known ? cost.usd : usd;
}

type Settlement = SettledCall & { readonly reservation: Reservation };

const settlements = rowSet<Settlement, readonly SettledCall[]>(
  's',
  {
    budget_id: ['uuid', ({ reservation }) => reservation.budgetId],
    bucket: ['text', ({ reservation }) => reservation.bucket],
    window_start: ['timestamptz', ({ reservation }) => reservation.window],
    reserved: ['numeric', ({ reservation }) => reservation.usd],
    settled: ['numeric', (one) => settledUsd(one.reservation, one)],
    sent: ['bool', ({ isSent }) => isSent],
    unknown: ['bool', ({ cost }) => !cost.known],
    execution_id: ['uuid', ({ executionId }) => executionId],
    call: ['int', ({ call }) => call],
  },
  {
    read: (calls) =>
      calls.flatMap((call) => call.reservations.map((reservation) => ({ ...call, reservation }))),
  },
);

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

export const insertSettlements = statement<readonly SettledCall[]>('completion-insert-settlements')`
  insert into budget_settlements (budget_id, bucket, window_start, delta_reserved, delta_settled, sent, unknown,
    execution_id, call)
  select budget_id, bucket, window_start, -reserved, settled, sent, unknown, execution_id, call from ${settlements.table}`;
