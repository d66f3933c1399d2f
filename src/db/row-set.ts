import { type Sql, sql } from './sql.ts';
import type { Fragment } from './statement.ts';
import type { Value } from './value.ts';

/** Rows as parameters of a statement: each column is declared once, with its name, its type and its value. */

/** The type of a column in PostgreSQL, and its value in a row. */
export type Columns<Row> = Readonly<
  Record<string, readonly [type: string, read: (row: Row) => Value]>
>;

/** The rows with their values, for a template that is executed at once. */
export function rowTable<Row>(alias: string, columns: Columns<Row>, rows: readonly Row[]): Sql {
  const arrays = Object.values(columns).map(
    ([type, read]) => sql`${rows.map(read)}::${sql.raw(type)}[]`,
  );
  return sql`unnest(${sql.join(arrays)}) as ${sql.raw(`${alias} (${Object.keys(columns).join(', ')})`)}`;
}

/** Rows as parameters of a statement with a constant text, whatever their number. */
export interface RowSet<Input> {
  /** SQL: the rows, for a `from` clause. With `ordinality`, the column `ordinal` numbers them from 1. */
  readonly table: Fragment<Input>;
  /** SQL: the array of a column, for a condition that an index can use. */
  array(column: string): Fragment<Input>;
}

interface RowSetOptions<Input, Row> {
  /** The rows in the input of the statement, called for each column. By default, the input is the rows. */
  readonly read?: (input: Input) => readonly Row[];
  readonly ordinality?: boolean;
}

/** One array for each column. A column without any value is sent as null, which PostgreSQL pads. */
export function rowSet<Row, Input = readonly Row[]>(
  alias: string,
  columns: Columns<Row>,
  options: RowSetOptions<Input, Row> = {},
): RowSet<Input> {
  const { read = (input) => input as unknown as readonly Row[], ordinality = false } = options;
  const arrays = Object.entries(columns).map(([name, [type, readValue]]) => {
    const parameter = (input: Input) => {
      const values = read(input).map(readValue);
      return values.some((value) => value !== null && value !== undefined) ? values : null;
    };
    return { name, sql: sql`${parameter}::${sql.raw(type)}[]` };
  });
  const names = arrays.map(({ name }) => name);
  const listed = (ordinality ? [...names, 'ordinal'] : names).join(', ');
  const given = sql`unnest(${sql.join(arrays.map((one) => one.sql))})`;
  return {
    table: sql`${given}${sql.raw(ordinality ? ' with ordinality' : '')} as ${sql.raw(`${alias} (${listed})`)}`,
    array: (column) => arrays.find(({ name }) => name === column)?.sql ?? sql`null`,
  };
}
