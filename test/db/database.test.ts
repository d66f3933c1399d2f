import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runAsAdmin } from '../../harness/cluster.ts';
import { createTestDatabase } from '../../harness/database.ts';
import { numbered, testPipelines } from '../../harness/pipelines.ts';
import { type Db, openDatabase } from '../../src/db/database.ts';
import { isReadOnly } from '../../src/db/database-error.ts';
import { IdleConnections } from '../../src/db/idle-connections.ts';
import { sql } from '../../src/db/sql.ts';

const database = await createTestDatabase();
const errors: string[] = [];
const db = openDatabase({
  connection: database.connection,
  poolMax: 3,
  onError: (error) => errors.push(error.message),
});
after(async () => {
  await db.destroy();
  await database.drop();
});

async function backend(handle: Db): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(handle);
  return rows[0]?.pid ?? 0;
}

/** Uses all three connections of the pool, which are idle afterwards. */
async function backends(): Promise<number[]> {
  return db.transaction((first) =>
    db.transaction((second) =>
      db.transaction(async (third) => {
        return [await backend(first), await backend(second), await backend(third)];
      }),
    ),
  );
}

test('a connection that was closed while idle is not reused', async () => {
  const before = await backends();
  assert.equal(new Set(before).size, 3);

  db.dropIdle();
  const now = await Promise.all([backend(db), backend(db), backend(db)]);

  assert.deepEqual(
    now.filter((pid) => before.includes(pid)),
    [],
  );
  assert.ok(errors.length > 0);
});

test('a connection in use stays open and becomes idle afterwards', async () => {
  const pid = await db.transaction(async (trx) => {
    const first = await backend(trx);
    db.dropIdle();
    assert.equal(await backend(trx), first);
    return first;
  });
  assert.equal(await backend(db), pid);
});

test('times and string literals do not depend on the settings of the database', async () => {
  const { connection } = database;
  const admin = { ...connection, user: 'postgres' };
  for (const setting of ["datestyle = 'German'", 'standard_conforming_strings = off']) {
    await runAsAdmin(admin, `alter database ${connection.database} set ${setting}`);
  }
  const text = String.raw`select '2026-11-23T04:05:06Z'::timestamptz as at, 'a\\b' as text`;
  const expected = [{ at: new Date('2026-11-23T04:05:06Z'), text: String.raw`a\\b` }];
  db.dropIdle();
  assert.deepEqual((await sql.raw(text).execute(db)).rows, expected);
  const pipelines = testPipelines(connection);
  const sent = await pipelines.use((send) => send(numbered('read', text)));
  await pipelines.close();
  assert.deepEqual(sent, expected);
});

test('a read-only response closes the idle connections of all pools', async () => {
  const connection = { ...database.connection, idle: new IdleConnections() };
  const other = openDatabase({ connection, poolMax: 1, onError: () => {} });
  const pool = openDatabase({ connection, poolMax: 1, onError: () => {} });
  const pipelines = testPipelines(connection, 1);
  const readPid = numbered<{ pid: number }>('pid', 'select pg_backend_pid() as pid');
  const pids = async () => [
    await backend(other),
    await backend(pool),
    (await pipelines.use((send) => send(readPid)))[0]?.pid ?? 0,
  ];
  try {
    const before = await pids();
    await sql`set default_transaction_read_only = on`.execute(pool);
    await assert.rejects(sql`delete from limits`.execute(pool), isReadOnly);
    const now = await pids();
    assert.deepEqual(
      now.filter((pid) => before.includes(pid)),
      [],
    );
    await sql`delete from limits`.execute(pool);
  } finally {
    await pipelines.close();
    await Promise.all([other.destroy(), pool.destroy()]);
  }
});
