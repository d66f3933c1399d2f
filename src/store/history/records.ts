import { type RawBuilder, sql } from 'kysely';
import type { IdRange } from '../../core/history/history-range.ts';
import type { Db, Trx } from '../connection/database.ts';
import {
  detailed,
  type ExecutionDetailRow,
  fitted,
  type ExecutionListRow,
  listed,
  progress,
  summarized,
  textBytes,
  whole,
} from '../execution/executions.ts';
import {
  ended,
  type HistoryRequest,
  inListedRange,
  inRange,
  matching,
  rangeRows,
  underWay,
  wholeOf,
} from './history-filter.ts';

/** Reading the records of a history, in the snapshot of the transaction that each function is given. */

export function inSnapshot<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(work);
}

/** A snapshot that lasts until it is given back, which the caller must see to. */
export async function openSnapshot(
  db: Db,
): Promise<{ readonly trx: Trx; goOn(): Promise<void>; giveBack(): Promise<void> }> {
  const begun = await db
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute();
  const trx = await begun.savepoint('begun').execute();
  return {
    trx,
    /** After a statement that failed, in the same snapshot. */
    async goOn() {
      await trx.rollbackToSavepoint('begun').execute();
    },
    async giveBack() {
      await trx.rollback().execute();
    },
  };
}

/** The matching records of these ranges, newest first, from the `skip`th on. */
export async function readRecords(
  trx: Trx,
  question: HistoryRequest,
  page: {
    readonly ranges: readonly IdRange[];
    readonly skip: number;
    readonly take: number;
    readonly omitsBodies?: boolean | undefined;
  },
): Promise<ExecutionListRow[]> {
  const { ranges, skip, take, omitsBodies } = page;
  if (ranges.length === 0) return [];
  const { rows } = await sql<ExecutionListRow>`
    select ${omitsBodies ? summarized : listed}, ${progress}
    from (
      select ${omitsBodies ? sql`*` : fitted} from executions e
      where ${inRange(wholeOf(ranges))} and e.id = any(array(
        select id from (${pickedFrom(question, ranges, skip + take)}) as ids
        order by id desc limit ${take} offset ${skip}))) as e
      left join execution_queue q on q.id = e.id
    order by e.id desc`.execute(trx);
  return rows;
}

/** Where the `skip`th of them is passed over; null where there are no more after it. */
export async function findRecord(
  trx: Trx,
  question: HistoryRequest,
  { ranges, skip }: { readonly ranges: readonly IdRange[]; readonly skip: number },
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select id from (${pickedFrom(question, ranges, skip + 1)}) as ids
    order by id desc limit 1 offset ${skip}`.execute(trx);
  return rows[0]?.id ?? null;
}

/** The first of them with all there is of each: so many, or fewer that together are as large as is allowed. */
export async function readFullRecords(
  trx: Trx,
  question: HistoryRequest,
  page: { readonly ranges: readonly IdRange[]; readonly take: number; readonly bytesMax: number },
): Promise<ExecutionDetailRow[]> {
  const { ranges, take, bytesMax } = page;
  const place = inRange(wholeOf(ranges));
  const { rows } = await sql<ExecutionDetailRow>`
    select ${whole}, ${progress}, ${detailed}
    from executions e left join execution_queue q on q.id = e.id
    where ${place} and e.id = any(array(
      select id from (
        select e.id, sum(${textBytes}) over (order by e.id desc) - ${textBytes} as before
        from executions e
        where ${place} and e.id = any(array(
          select id from (${pickedFrom(question, ranges, take)}) as ids order by id desc limit ${take}))) as sized
      where before < ${bytesMax}))
    order by e.id desc`.execute(trx);
  return rows;
}

/** The ids of the newest that match, from the index alone. The bounds of the whole say which partitions are looked at. */
function pickedFrom(
  question: HistoryRequest,
  ranges: readonly IdRange[],
  limit: number,
): RawBuilder<unknown> {
  const whole = inRange(wholeOf(ranges));
  if (ranges.length === 1) return idsOf(question, whole, limit);
  return sql`select one.id from ${rangeRows(ranges)}
    cross join lateral (${idsOf(question, sql`${inListedRange} and ${whole}`, limit)}) as one`;
}

/** The newest ids that match and lie where `place` says. */
function idsOf(
  question: HistoryRequest,
  place: RawBuilder<unknown>,
  limit: number,
): RawBuilder<unknown> {
  const recorded = sql`(select e.id from executions e
    where ${ended(question)} and ${place} and ${matching(question)}
    order by e.id desc limit ${limit})`;
  if (!question.includeProcessing) return recorded;
  return sql`${recorded} union all
    (select e.id from ${underWay(question)} and ${place} order by e.id desc limit ${limit})`;
}
