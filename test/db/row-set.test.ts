import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestDatabase } from '../../harness/database.ts';
import { testPipelines } from '../../harness/pipelines.ts';
import { type Columns, numberedRowSet, rowTable } from '../../src/db/row-set.ts';
import { sql } from '../../src/db/sql.ts';

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

test('a row set names each column once, from the first parameter on', () => {
  const set = numberedRowSet('r', columns, { first: 3, ordinality: true });
  assert.equal(
    set.table,
    'unnest($3::text[], $4::int[], $5::text[]) with ordinality as r (name, size, note, ordinal)',
  );
  assert.deepEqual([set.array('size'), set.next], ['$4::int[]', 6]);
  assert.deepEqual(set.values(rows), [rows.map(({ name }) => name), [1, null], null]);
  assert.deepEqual(set.values([]), [null, null, null]);
});

test('PostgreSQL reads the rows, also a column without any value, and no rows', async () => {
  const set = numberedRowSet('r', columns, { ordinality: true });
  const statement = {
    name: 'rows',
    text: `select name, size, note from ${set.table} order by ordinal`,
  };
  const [read, none] = await pipelines.use((send) =>
    Promise.all([send(statement, set.values(rows)), send(statement, set.values([]))]),
  );
  assert.deepEqual([read, none], [expected, []]);
  const { rows: selected } = await sql`select * from ${rowTable('r', columns, rows)}`.execute(db);
  assert.deepEqual(selected, expected);
});
