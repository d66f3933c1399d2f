import type { Db } from './database.ts';
import { patternOfPart } from './spelling-pattern.ts';
import { type Sql, sql } from './sql.ts';

/** Paged lists. */

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** A page of rows and the total number of matches, both from one snapshot. */
export function readPage<Row>(
  db: Db,
  list: {
    readonly columns: Sql;
    /** The SQL from the first table to the last condition. */
    readonly from: Sql;
    /** A further condition (`and …`) that applies to the page but not to the total. */
    readonly more?: Sql;
    /** Must be a total order, or pages would overlap. */
    readonly order: Sql;
  },
  { limit, offset }: Page,
): Promise<{ rows: Row[]; total: number }> {
  return db.transaction(async (trx) => {
    const totals = await sql<{ total: number }>`
      select count(*) as total from ${list.from}`.execute(trx);
    const { rows } = await sql<Row>`
      select ${list.columns} from ${list.from} ${list.more ?? sql``}
      order by ${list.order} limit ${limit} offset ${offset}`.execute(trx);
    return { rows, total: totals.rows[0]?.total ?? 0 };
  }, 'snapshot');
}

/**
 * SQL: whether a text contains another, ignoring case and the spelling of accents. Not `lower`: what it changes depends on
 * the locale of the database.
 */
export function containsText(text: Sql, part: string): Sql {
  return sql`${text} ~ ${patternOfPart(part)}`;
}
