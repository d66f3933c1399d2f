import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { untilBlocked } from '../../harness/locks.ts';
import { ReadOnlyFailure } from '../../src/core/startup-failure.ts';
import { type Db, openDatabase } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { checkSchema, type Migrations, migrate } from '../../src/store/migrate.ts';

/** A database that lacks two migrations, each of which adds a column to a table; the second table is being dumped. */

const addColumn = (table: string) => async (db: Db) => {
  await sql`alter table ${sql.table(table)} add column added integer`.execute(db);
};
const [first, second] = ['9001-first', '9002-second'];
let migrations: Migrations;
let database: TestDatabase;
let db: Db;
let dump: pg.Client;

beforeEach(async () => {
  database = await createTestDatabase();
  db = openDatabase({ connection: database.connection, poolMax: 5, onError: () => {} });
  migrations = {
    ...Object.fromEntries((await appliedNames()).map((name) => [name, async () => {}])),
    [first]: addColumn('accounts'),
    [second]: addColumn('workflow_schedules'),
  };
  dump = new pg.Client(database.connection);
  await dump.connect();
  await dump.query('begin');
  await dump.query('select from workflow_schedules');
});
afterEach(async () => {
  await dump.end();
  await db.destroy();
  await database.drop();
});

async function appliedNames(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from schema_migrations order by name`.execute(db);
  return rows.map(({ name }) => name);
}

async function applied(): Promise<string[]> {
  return (await appliedNames()).filter((name) => name >= first);
}

/** Migrates through a handle of its own, as another process would. */
async function migrating(work: (waits: Promise<void>, ends: Promise<void>) => Promise<void>) {
  const own = openDatabase({ connection: database.connection, poolMax: 1, onError: () => {} });
  const waits = Promise.withResolvers<void>();
  const ends = migrate(own, { migrations, onWait: waits.resolve });
  ends.catch(() => {});
  await work(Promise.race([waits.promise, ends]), ends).finally(() => own.destroy());
}

test('statements queued behind a waiting migration proceed, and it is applied once the dump ends', async () => {
  await migrating(async (_waits, ends) => {
    await untilBlocked(db);
    // If the migration waited for the dump, this would wait behind it.
    await sql`select from workflow_schedules`.execute(db);
    assert.deepEqual(await applied(), [first]);
    await dump.query('commit');
    await ends;
    assert.deepEqual(await applied(), [first, second]);
    await sql`select added from workflow_schedules`.execute(db);
  });
});

test('an applied migration stays when the process dies while it waits for the next', async () => {
  await migrating(async (waits, ends) => {
    await waits;
    let dead = false;
    ends.catch(() => (dead = true));
    // Between two tries its pool would only open another connection.
    while (!dead) {
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
      await wait(5);
    }
    await assert.rejects(ends);
  });
  assert.deepEqual(await applied(), [first]);
  await sql`select added from accounts`.execute(db);
  await dump.query('commit');
  await migrate(db, { migrations });
  assert.deepEqual(await applied(), [first, second]);
});

test('of several processes that wait, one applies it', async () => {
  await migrating((waits, ends) =>
    migrating(async (othersWaits, othersEnds) => {
      await Promise.all([waits, othersWaits]);
      await dump.query('commit');
      await Promise.all([ends, othersEnds]);
    }),
  );
  assert.deepEqual(await applied(), [first, second]);
});

test('an abort ends the wait', async () => {
  const ending = new AbortController();
  const ends = migrate(db, { migrations, signal: ending.signal, onWait: () => ending.abort() });
  await assert.rejects(ends, { name: 'AbortError' });
  assert.deepEqual(await applied(), [first]);
});

test('a read-only database is reported, even when no migration is missing', async () => {
  await dump.query('commit');
  const options = '-c default_transaction_read_only=on';
  const connection = { ...database.connection, options };
  const own = openDatabase({ connection, poolMax: 1, onError: () => {} });
  try {
    await assert.rejects(migrate(own, { migrations }), ReadOnlyFailure);
    await migrate(db, { migrations });
    await assert.rejects(migrate(own, { migrations }), ReadOnlyFailure);
    await assert.rejects(checkSchema(own), ReadOnlyFailure);
  } finally {
    await own.destroy();
  }
});

test('a schema of a development version is rejected with a way to start over', async () => {
  await sql`create table run_queue ()`.execute(db);
  const expected = { name: 'StartupFailure', message: /start over with an empty database/ };
  await assert.rejects(migrate(db), expected);
  await assert.rejects(checkSchema(db), expected);
});
