import { type RawBuilder, sql } from 'kysely';
import type { Value } from './pipeline.ts';

/** Rows as parameters of a statement: each column is declared once, with its name, its type and its value. */

/** The type of a column in PostgreSQL, and its value in a row. */
export type Columns<Row> = Readonly<
  Record<string, readonly [type: string, read: (row: Row) => Value]>
>;

export interface RowSet<Row> {
  /** SQL: the rows, for a `from` clause. With `ordinality`, the column `ordinal` numbers them from 1. */
  readonly table: string;
  /** SQL: the array of a column, for a condition that an index can use. */
  array(column: string): string;
  /** The parameters, one array for each column. A column without any value is sent as null, which PostgreSQL pads. */
  values(rows: readonly Row[]): Value[];
  /** The number of the first parameter after those of the rows. */
  readonly next: number;
}

/** The same with its values, for a statement of `sql`. */
export function rowTable<Row>(
  alias: string,
  columns: Columns<Row>,
  rows: readonly Row[],
): RawBuilder<unknown> {
  const arrays = Object.values(columns).map(
    ([type, read]) => sql`${rows.map(read)}::${sql.raw(type)}[]`,
  );
  return sql`unnest(${sql.join(arrays)}) as ${sql.raw(`${alias} (${Object.keys(columns).join(', ')})`)}`;
}

/** @param first the number of the first parameter */
export function rowSet<Row>(
  alias: string,
  columns: Columns<Row>,
  {
    first = 1,
    ordinality = false,
  }: { readonly first?: number; readonly ordinality?: boolean } = {},
): RowSet<Row> {
  const names = Object.keys(columns);
  const getters = Object.values(columns).map(([, read]) => read);
  const arrays = Object.values(columns).map(([type], at) => `$${first + at}::${type}[]`);
  const listed = ordinality ? [...names, 'ordinal'] : names;
  return {
    table: `unnest(${arrays.join(', ')})${ordinality ? ' with ordinality' : ''} as ${alias} (${listed.join(', ')})`,
    array: (column) => arrays[names.indexOf(column)] ?? 'null',
    values: (rows) =>
      getters.map((read) => {
        const values = rows.map(read);
        return values.some((value) => value !== null && value !== undefined) ? values : null;
      }),
    next: first + names.length,
  };
}
