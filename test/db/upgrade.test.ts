import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { spawnCueline } from '../../harness/process.ts';
import { allEnded, restoreState, stateKey } from '../../harness/states.ts';
import { UnsupportedSchema } from '../../src/core/startup-failure.ts';
import { type Db, openDatabase } from '../../src/db/database.ts';
import { checkSchema, checksumsOf, migrate, released } from '../../src/db/migrations/migrate.ts';
import { sql } from '../../src/db/sql.ts';

async function openState(t: TestContext, name: string) {
  const database = await restoreState(name);
  const db = openDatabase({ connection: database.connection, poolMax: 5, onError: () => {} });
  t.after(async () => {
    await db.destroy();
    await database.drop();
  });
  return { connection: database.connection, db };
}

test('the state 0793ab16 keeps every row, and its migrations get the checksums of these', async (t) => {
  const { db } = await openState(t, '0793ab16');
  const before = await countRows(db);
  for (const table of ['execution_queue', 'workflow_runs', 'batch_lines', 'deliveries']) {
    assert.ok(before.get(table), table);
  }
  await migrate(db);
  const after = await countRows(db);
  after.set('slugs', after.get('names') ?? 0).set('erasures', after.get('erasure_requests') ?? 0);
  after.set('schema_migrations', before.get('schema_migrations') ?? 0);
  for (const [table, rows] of before) assert.equal(after.get(table), rows, table);
  assert.deepEqual(await storedChecksums(db), Object.fromEntries(await checksumsOf(released)));
  await checkSchema(db);
});

test('what was live in the state 0793ab16 ends, once each', async (t) => {
  const { connection, db } = await openState(t, '0793ab16');
  const { rows: live } = await sql<{ id: string }>`select id from execution_queue`.execute(db);
  assert.ok(live.length > 10);
  const cueline = await spawnCueline('start', connection);
  t.after(() => cueline.kill('SIGKILL'));
  await allEnded(db);
  const { rows: records } = await sql<{ id: string; errorCode: string }>`
    select id, error_code from executions
    where id = any (${live.map(({ id }) => id)}::uuid[])`.execute(db);
  // Their model takes an hour, and their workflow run as long at most.
  for (const { errorCode } of records) assert.match(errorCode, /^(MODEL_TIMEOUT|CANCELED)$/);
  assert.deepEqual(records.map(({ id }) => id).toSorted(), live.map(({ id }) => id).toSorted());
  const response = await fetch(`${cueline.url}/api/v1/agents`, {
    headers: { authorization: `Bearer ${stateKey}` },
  });
  assert.equal(response.status, 200);
  await cueline.kill('SIGTERM');
  assert.doesNotMatch(cueline.output().logged, /"level":"(error|fatal)"/);
});

for (const name of ['0.1.0', '6533ffe2']) {
  test(`the state ${name} is refused and left as it was`, async (t) => {
    const { db } = await openState(t, name);
    const before = await countRows(db);
    const expected = (error: unknown) => {
      assert.ok(error instanceof UnsupportedSchema);
      assert.match(error.message, /^The database cannot be upgraded because .*0793ab16.*[^.]\.$/);
      return true;
    };
    await assert.rejects(migrate(db), expected);
    await assert.rejects(checkSchema(db), expected);
    assert.deepEqual(await countRows(db), before);
  });
}

async function storedChecksums(db: Db): Promise<Record<string, string>> {
  const { rows } = await sql<{ name: string; checksum: string }>`
    select name, checksum from schema_migrations`.execute(db);
  return Object.fromEntries(rows.map(({ name, checksum }) => [name, checksum]));
}

async function countRows(db: Db): Promise<Map<string, number>> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by relname`.execute(db);
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(name)}`.execute(db);
    counts.set(name, rows[0]?.count ?? 0);
  }
  return counts;
}
