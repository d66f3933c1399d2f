import { type RawBuilder, sql } from 'kysely';
import type { IdRange } from '../core/history.ts';
import type { Db, Trx } from './db.ts';
import {
  detailed,
  type ExecutionDetailRow,
  type ExecutionRow,
  listed,
  progress,
} from './executions.ts';
import {
  ended,
  type HistoryQuestion,
  inNamedRange,
  inRange,
  matching,
  rangesFrom,
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
): Promise<{ readonly trx: Trx; giveBack(): Promise<void> }> {
  const trx = await db
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute();
  return {
    trx,
    async giveBack() {
      await trx.rollback().execute();
    },
  };
}

interface PageOfRanges {
  readonly ranges: readonly IdRange[];
  readonly skip: number;
  readonly take: number;
}

/** The matching records of these ranges, newest first, from the `skip`th on. */
export function readRecords(
  trx: Trx,
  question: HistoryQuestion,
  page: PageOfRanges,
): Promise<ExecutionRow[]> {
  return read(trx, question, page, sql`${listed}, ${progress}`);
}

/** The same with all there is of each. */
export function readWholeRecords(
  trx: Trx,
  question: HistoryQuestion,
  page: PageOfRanges,
): Promise<ExecutionDetailRow[]> {
  return read(trx, question, page, sql`${listed}, ${progress}, ${detailed}`);
}

async function read<Row>(
  trx: Trx,
  question: HistoryQuestion,
  { ranges, skip, take }: PageOfRanges,
  columns: RawBuilder<unknown>,
): Promise<Row[]> {
  if (ranges.length === 0) return [];
  // The bounds of the whole say which partitions are looked at.
  const whole = inRange(wholeOf(ranges));
  // Their ids first, from the index alone.
  const picked =
    ranges.length === 1
      ? idsOf(question, whole, skip + take)
      : sql`select one.id from ${rangesFrom(ranges)}
          cross join lateral (${idsOf(question, sql`${inNamedRange} and ${whole}`, skip + take)}) as one`;
  const { rows } = await sql<Row>`
    select ${columns}
    from executions e left join run_queue q on q.id = e.id
    where ${whole} and e.id = any(array(
      select id from (${picked}) as ids order by id desc limit ${take} offset ${skip}))
    order by e.id desc`.execute(trx);
  return rows;
}

/** The newest ids that match and lie where `place` says. */
function idsOf(
  question: HistoryQuestion,
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
