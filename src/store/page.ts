import { type RawBuilder, sql } from 'kysely';
import { patternOfPart } from '../core/history/spelling-pattern.ts';
import type { Db } from './connection/database.ts';

/** Paged lists. */

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** A page of rows and the total number of matches, both from one snapshot. */
export function readPage<Row>(
  db: Db,
  list: {
    readonly columns: RawBuilder<unknown>;
    /** The SQL from the first table to the last condition. */
    readonly from: RawBuilder<unknown>;
    /** A further condition (`and …`) that applies to the page but not to the total. */
    readonly more?: RawBuilder<unknown>;
    /** Must be a total order, or pages would overlap. */
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

/**
 * SQL: whether a text contains another, ignoring case and the spelling of accents. Not `lower`: what it changes depends on
 * the locale of the database.
 */
export function containsText(text: RawBuilder<unknown>, part: string): RawBuilder<unknown> {
  return sql`${text} ~ ${patternOfPart(part)}`;
}
