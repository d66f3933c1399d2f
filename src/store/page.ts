import { type RawBuilder, sql } from 'kysely';
import type { Db } from './connection/database.ts';

/** A list, a page at a time. */

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** A page of rows and the number of all that match, both from one snapshot. */
export function readPage<Row>(
  db: Db,
  list: {
    readonly columns: RawBuilder<unknown>;
    /** Everything from the first table to the last condition. */
    readonly from: RawBuilder<unknown>;
    /** What narrows the page down, but not the number of all: `and …`. */
    readonly more?: RawBuilder<unknown>;
    /** Leaves no two rows equal, or pages would overlap. */
    readonly order: RawBuilder<unknown>;
  },
  { limit, offset }: Page,
): Promise<{ rows: Row[]; total: number }> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const totals = await sql<{
        total: number;
      }>`select count(*) as total from ${list.from}`.execute(trx);
      const { rows } = await sql<Row>`
        select ${list.columns} from ${list.from} ${list.more ?? sql``}
        order by ${list.order} limit ${limit} offset ${offset}`.execute(trx);
      return { rows, total: totals.rows[0]?.total ?? 0 };
    });
}

/** Whether a text holds another in any case. No pattern: `%` and `_` are letters like all others. */
export function holds(text: RawBuilder<unknown>, part: string): RawBuilder<unknown> {
  return sql`strpos(lower(${text}), lower(${part})) > 0`;
}
