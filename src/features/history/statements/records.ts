import type { Execution } from '../../../core/execution/execution-fields.ts';
import { before, downTo, type IdRange } from '../../../core/history/history-range.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { aboveFloor, idBounds } from '../../../db/id-bounds.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import {
  columnsWithout,
  type ListedExecution,
  listColumns,
  type OmitsBodies,
  recordColumns,
  textBytes,
  transientOutputs,
  withFits,
} from '../../../engine/read/executions.ts';
import {
  enclosingRange,
  endedRecords,
  type HistoryRequest,
  inListedRange,
  inRange,
  matchesFilter,
  processingFrom,
  rangeRows,
} from './history-filter.ts';

/** Reads the records of a history. Each function reads the snapshot of the given transaction. */

/** Opens a snapshot that the caller must close. */
export async function openSnapshot(
  db: Db,
): Promise<{ readonly trx: Trx; recover(): Promise<void>; close(): Promise<void> }> {
  const trx = await db.begin('snapshot');
  await sql`savepoint begun`.execute(trx);
  return {
    trx,
    /** Continues in the same snapshot after a failed statement. */
    async recover() {
      await sql`rollback to savepoint begun`.execute(trx);
    },
    close: () => trx.rollback(),
  };
}

/** SQL: what a request lists, as `e`. */
function listed({ includeProcessing }: HistoryRequest): Sql {
  return includeProcessing ? sql`all_executions e` : sql`executions e`;
}

/** The matching records of these ranges, newest first, without the first `skip`. */
export async function readRecords(
  trx: Trx,
  request: HistoryRequest,
  page: {
    readonly ranges: readonly IdRange[];
    readonly skip: number;
    readonly take: number;
    readonly omitsBodies?: OmitsBodies | undefined;
  },
): Promise<ListedExecution[]> {
  const { ranges, skip, take, omitsBodies } = page;
  if (ranges.length === 0) return [];
  const { rows } = await sql<ListedExecution>`
    select ${omitsBodies ? columnsWithout(omitsBodies) : listColumns}
    from (
      select ${omitsBodies ? sql`*` : withFits(sql`e.id desc`)} from ${listed(request)} ${omitsBodies ? sql`` : transientOutputs}
      where ${inRange(enclosingRange(ranges))} and e.id = any(array(
        select id from (${pickedIds(request, ranges, skip + take)}) as ids
        order by id desc limit ${take} offset ${skip}))) as e
    order by e.id desc`.execute(trx);
  return rows;
}

/**
 * The next records of these ranges to scan: the first `count` that match, and what comes after them.
 * @param count may be infinite: everything is scanned at once
 */
export async function nextRecords(
  trx: Trx,
  request: HistoryRequest,
  ranges: readonly IdRange[],
  count: number,
): Promise<{ readonly scanned: readonly IdRange[]; readonly rest: readonly IdRange[] }> {
  const last = Number.isFinite(count)
    ? await findRecord(trx, request, { ranges, skip: count - 1 })
    : null;
  if (last === null) return { scanned: ranges, rest: [] };
  return {
    scanned: ranges.flatMap((range) => downTo(last, range)),
    rest: ranges.flatMap((range) => before(last, range)),
  };
}

/** The id of the record after the first `skip`; null if there are no more. */
async function findRecord(
  trx: Trx,
  request: HistoryRequest,
  { ranges, skip }: { readonly ranges: readonly IdRange[]; readonly skip: number },
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select id from (${pickedIds(request, ranges, skip + 1)}) as ids
    order by id desc limit 1 offset ${skip}`.execute(trx);
  return rows[0]?.id ?? null;
}

/** The first records with all columns: up to `take`, and fewer if their texts exceed `bytesMax`. */
export async function readFullRecords(
  trx: Trx,
  request: HistoryRequest,
  page: { readonly ranges: readonly IdRange[]; readonly take: number; readonly bytesMax: number },
): Promise<Execution[]> {
  const { ranges, take, bytesMax } = page;
  const inBounds = inRange(enclosingRange(ranges));
  const { rows } = await sql<Execution>`
    select ${recordColumns}
    from ${listed(request)} ${transientOutputs}
    where ${inBounds} and e.id = any(array(
      select id from (
        select e.id, sum(${textBytes}) over (order by e.id desc) - ${textBytes} as before
        from ${listed(request)} ${transientOutputs}
        where ${inBounds} and e.id = any(array(
          select id from (${pickedIds(request, ranges, take)}) as ids order by id desc limit ${take}))) as sized
      where before < ${bytesMax}))
    order by e.id desc`.execute(trx);
  return rows;
}

/** Those of these records that still exist. */
export async function findExistingRecords(db: Db, ids: readonly string[]): Promise<string[]> {
  const [lowest, highest] = idBounds(ids);
  const { rows } = await sql<{ id: string }>`
    select e.id from all_executions e
    where e.id = any(${ids}::uuid[]) and e.id between ${lowest}::uuid and ${highest}::uuid
      and ${aboveFloor}`.execute(db);
  return rows.map(({ id }) => id);
}

/** SQL: the ids of the newest matches, from the index alone. The enclosing range limits the partitions to read. */
function pickedIds(request: HistoryRequest, ranges: readonly IdRange[], limit: number): Sql {
  const inBounds = inRange(enclosingRange(ranges));
  if (ranges.length === 1) return newestIds(request, inBounds, limit);
  return sql`select one.id from ${rangeRows(ranges)}
    cross join lateral (${newestIds(request, sql`${inListedRange} and ${inBounds}`, limit)}) as one`;
}

/** SQL: the newest matching ids that satisfy `condition`. */
function newestIds(request: HistoryRequest, condition: Sql, limit: number): Sql {
  const recorded = sql`(select e.id from executions e
    where ${endedRecords(request)} and ${condition} and ${matchesFilter(request)}
    order by e.id desc limit ${limit})`;
  if (!request.includeProcessing) return recorded;
  return sql`${recorded} union all
    (select e.id from ${processingFrom(request)} and ${condition} order by e.id desc limit ${limit})`;
}
