import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestDatabase } from '../../harness/database.ts';
import { testPipelines } from '../../harness/pipelines.ts';
import { type Columns, rowSet, rowTable } from '../../src/db/row-set.ts';
import { sql } from '../../src/db/sql.ts';
import { statement } from '../../src/db/statement.ts';

interface Row {
  readonly name: string;
  readonly size: number | null;
  readonly note?: string;
}

const columns: Columns<Row> = {
  name: ['text', (row) => row.name],
  size: ['int', (row) => row.size],
  note: ['text', (row) => row.note],
};
const rows: readonly Row[] = [
  { name: 'a "quoted", {listed}', size: 1 },
  { name: 'b', size: null },
];
const expected = rows.map(({ name, size }) => ({ name, size, note: null }));

const { db, connection, close } = await openTestDatabase();
const pipelines = testPipelines(connection, 1);
after(async () => {
  await pipelines.close();
  await close();
});

test('PostgreSQL reads the rows, also a column without any value, and no rows', async () => {
  const set = rowSet<Row>('r', columns);
  const read = statement<readonly Row[]>('rows')`select name, size, note from ${set.table}`;
  assert.deepEqual(read.values(rows), [rows.map(({ name }) => name), [1, null], null]);
  assert.deepEqual(read.values([]), [null, null, null]);
  const found = await pipelines.use((send) => Promise.all([send(read, rows), send(read, [])]));
  assert.deepEqual(found, [expected, []]);
  const { rows: selected } = await sql`select * from ${rowTable('r', columns, rows)}`.execute(db);
  assert.deepEqual(selected, expected);
});
