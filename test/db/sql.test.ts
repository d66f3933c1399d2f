import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestDatabase } from '../../harness/database.ts';
import { testPipelines } from '../../harness/pipelines.ts';
import type { Db } from '../../src/db/database.ts';
import { rowSet } from '../../src/db/row-set.ts';
import { sql } from '../../src/db/sql.ts';
import { statement } from '../../src/db/statement.ts';
import { begin, commit } from '../../src/db/statements.ts';

const { connection, db, close } = await openTestDatabase(2);
const pipelines = testPipelines(connection);
after(async () => {
  await pipelines.close();
  await close();
});

test('what is inserted becomes a parameter, and SQL becomes part of the text', () => {
  const condition = sql`name = ${'x'} and ${sql.ref('e.agentId')} = ${7}`;
  const query = sql`select ${sql.lit("it's")} from ${sql.table('agents')} e where ${condition} or id = any(${[1, 2]})`;
  assert.equal(
    query.text,
    `select 'it''s' from "agents" e where name = $1 and "e"."agent_id" = $2 or id = any($3)`,
  );
  assert.deepEqual(query.values, ['x', 7, [1, 2]]);
  assert.equal(sql`in (${sql.join([1, sql`now()`, 3])})`.text, 'in ($1, now(), $2)');
  assert.equal(sql.join([sql`a`, sql`b`], sql` and `).text, 'a and b');
  assert.equal(sql.join([]).text, '');
});

test('rows have camelCase names, and count what was changed', async () => {
  const { rows, rowCount } = await sql`
    select 1 as one, 2 as agent_id, '{"a_b": 1}'::json as some_json, 5::bigint as _x`.execute(db);
  assert.deepEqual(rows, [{ one: 1, agentId: 2, someJson: '{"a_b": 1}', _x: 5 }]);
  assert.equal(rowCount, 1);
});

test('a transaction commits, or rolls back whatever its work threw', async () => {
  await sql`create table things (id int)`.execute(db);
  const add = sql`insert into things values (1)`;
  const count = async () =>
    (await sql<{ n: number }>`select count(*)::int as n from things`.execute(db)).rows[0]?.n;
  assert.equal(await db.transaction(async (trx) => (await add.execute(trx)).rowCount), 1);
  assert.equal(await count(), 1);
  const failing = db.transaction(async (trx) => {
    await add.execute(trx);
    throw new Error('no');
  });
  await assert.rejects(failing, /^Error: no$/);
  assert.equal(await count(), 1);
  // PostgreSQL answers the commit with a rollback.
  const swallowing = db.transaction(async (trx) => {
    await add.execute(trx);
    await sql`select 1 / 0`.execute(trx).catch(() => {});
  });
  await assert.rejects(swallowing, /failed before its commit/);
  assert.equal(await count(), 1);
});

test('a snapshot reads one state and writes nothing', async () => {
  await db
    .transaction(async (trx) => {
      await assert.rejects(sql`create table more (id int)`.execute(trx), { code: '25006' });
    }, 'snapshot')
    .catch((error: Error) => assert.match(error.message, /failed before its commit/));
  const open = await db.begin('snapshot');
  const count = sql<{ n: number }>`select count(*)::int as n from things`;
  const before = await count.execute(open);
  await sql`insert into things values (2)`.execute(db);
  assert.deepEqual((await count.execute(open)).rows, before.rows);
  await open.rollback();
  await assert.rejects(count.execute(open), /The connection was released/);
});

test('a transaction that outlives its work runs nothing on a connection that others may have', async () => {
  let leaked: Db = db;
  await db.transaction(async (trx) => {
    leaked = trx;
  });
  await assert.rejects(sql`select 1`.execute(leaked), /The connection was released/);
});

test('an error names the code that sent the statement', async () => {
  async function readNothing() {
    await sql`select nothing`.execute(db);
  }
  await assert.rejects(readNothing, (error: Error) =>
    /at async readNothing/.test(error.stack ?? ''),
  );
});

interface Given {
  readonly shift: number;
  readonly rows: readonly { readonly id: number; readonly name: string | null }[];
}

const given = rowSet<Given['rows'][number], Given>(
  'g',
  { id: ['int', ({ id }) => id], some_name: ['text', ({ name }) => name] },
  { read: ({ rows }) => rows, ordinality: true },
);
const readGiven = statement<Given, { id: number; someName: string | null; shifted: number }>(
  'read-given',
)`
  select id, some_name, id + ${({ shift }) => shift}::int as shifted from ${given.table}
  where id = any(${given.array('id')}) order by ordinal`;

test('a statement reads its parameters from its input, each once', async () => {
  assert.equal(
    readGiven.text.trim().replace(/\s+/g, ' '),
    'select id, some_name, id + $1::int as shifted from unnest($2::int[], $3::text[]) with ordinality as g (id, some_name, ordinal) where id = any($2::int[]) order by ordinal',
  );
  const rows = [
    { id: 2, name: null },
    { id: 1, name: null },
  ];
  assert.deepEqual(readGiven.values({ shift: 5, rows }), [5, [2, 1], null]);
  const found = await pipelines.use((send) => send(readGiven, { shift: 5, rows }));
  assert.deepEqual(found, [
    { id: 2, someName: null, shifted: 7 },
    { id: 1, someName: null, shifted: 6 },
  ]);
  // Prepared by now.
  const again = await pipelines.use((send) =>
    send(readGiven, { shift: 1, rows: [{ id: 3, name: 'c' }] }),
  );
  assert.deepEqual(again, [{ id: 3, someName: 'c', shifted: 4 }]);
});

test('nothing follows a commit, not even a microtask later', async () => {
  const insert = statement<void>('insert-thing')`insert into things values (7)`;
  const late = pipelines.use(async (send) => {
    await Promise.all([send(begin), send(insert), send(commit)]);
    await send(insert);
  });
  await assert.rejects(late, /insert-thing follows the commit/);
  const together = pipelines.use(async (send) => {
    await Promise.all([send(begin), send(commit), send(insert)]);
  });
  await assert.rejects(together, /insert-thing follows the commit/);
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from things where id = 7`.execute(db);
  assert.equal(rows[0]?.n, 1);
});
