import type { Statement, Value } from './pipeline.ts';

/** The statements and parameters that pipelined transactions share. */

export const begin: Statement = {
  name: 'begin',
  text: 'begin isolation level read committed',
};

export const commit: Statement = { name: 'commit', text: 'commit' };

type ValueName<Row> = {
  [Name in keyof Row]-?: Row[Name] extends Value ? Name : never;
}[keyof Row];

/** The parameters of an `unnest`: one array for each property. The names are grouped like the lines of the SQL. */
export function columnsOf<Row>(
  rows: readonly Row[],
  ...names: readonly (readonly ValueName<Row>[])[]
): Value[] {
  return names.flat().map((name) => rows.map((row) => row[name] as Value));
}
