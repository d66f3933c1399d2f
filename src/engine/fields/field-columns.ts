import { type StoredField, storedFields } from '../../core/execution/execution-fields.ts';
import { arrayLiteral } from '../../db/array-literal.ts';
import { snakeCase } from '../../db/column-names.ts';
import type { Columns } from '../../db/row-set.ts';
import { type Sql, sql } from '../../db/sql.ts';

/** Fields of executions as columns of statements. All of it is derived once, when this process starts. */

export const columnName = ({ column, row }: StoredField) => column ?? snakeCase(row);

export const suppliedBy = (...suppliers: readonly StoredField['from'][]) =>
  storedFields.filter(({ from }) => suppliers.includes(from));

/** Reads columns by property from rows that contain them elsewhere. */
export type Reads<Row> = Readonly<Record<string, (row: Row) => unknown>>;

/** Fields as parameters. Lists of texts are sent as texts, because an array of arrays must be rectangular. */
export function parametersOf<Row>(
  fields: readonly StoredField[],
  reads: Reads<Row> = {},
): Columns<Row> {
  return Object.fromEntries(
    fields.map((field) => {
      const { row: name, sqlType } = field;
      const read = reads[name] ?? ((row: Row) => (row as Record<string, unknown>)[name]);
      const { type = sqlType, write } = written[sqlType] ?? {};
      return [columnName(field), [type, write ? (row: Row) => write(read(row)) : read]];
    }),
  ) as Columns<Row>;
}

const written: Readonly<Record<string, { type: string; write(value: unknown): unknown }>> = {
  'text[]': { type: 'text', write: (texts) => texts && arrayLiteral(texts as readonly string[]) },
  jsonb: { type: 'jsonb', write: (value) => value && JSON.stringify(value) },
};

/** SQL: the names of these columns. */
export const namesOf = (fields: readonly StoredField[]) =>
  sql.join(fields.map((field) => sql.ref(columnName(field))));

/** SQL: a parameter of `parametersOf` as the value of its column. */
export function storedValue(field: StoredField, table?: string): Sql {
  const name = sql.ref(table ? `${table}.${columnName(field)}` : columnName(field));
  return field.sqlType === 'text[]' ? sql`${name}::text[]` : name;
}
