import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { untilBlocked } from '../../harness/locks.ts';
import { ReadOnlyFailure, UnsupportedSchema } from '../../src/core/startup-failure.ts';
import { type Db, inTransaction, openDatabase } from '../../src/db/database.ts';
import {
  checkSchema,
  type Migrations,
  migrate,
  released,
} from '../../src/db/migrations/migrate.ts';
import { sql } from '../../src/db/sql.ts';

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
    ...released,
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

test('a changed migration is refused before a missing one is applied', async () => {
  const changed = { ...migrations, '0007-search': addColumn('accounts') };
  await assert.rejects(migrate(db, { migrations: changed }), {
    name: 'StartupFailure',
    message: /its migrations differ from those of this version \(0007-search\)/,
  });
  assert.deepEqual(await applied(), []);
});

test('a schema of another line of versions is refused, unlike a newer one', async () => {
  await sql`insert into schema_migrations (name, timestamp) values ('9999-later', '')`.execute(db);
  await assert.rejects(migrate(db), {
    message: /written by a newer Cueline \(it has 9999-later\)/,
  });
  await assert.rejects(migrate(db, { migrations }), {
    message: /migrations that this version does not know \(9999-later\)/,
  });
  await sql`delete from schema_migrations where name in ('0003-executions', '9999-later')`.execute(
    db,
  );
  const gap = { message: /lacks migrations before those that it has \(0003-executions\)/ };
  await assert.rejects(migrate(db, { migrations }), gap);
  await assert.rejects(checkSchema(db), gap);
  assert.deepEqual(await applied(), []);
});

test('a schema from before the first release is refused', async () => {
  await dump.query('commit');
  const emptied = 'drop schema public cascade; create schema public; create table run_queue ()';
  await sql.raw(emptied).execute(db);
  await assert.rejects(migrate(db), UnsupportedSchema);
  await assert.rejects(checkSchema(db), UnsupportedSchema);
});

test('checksums are not waited for while a dump reads their table', async () => {
  await sql`alter table schema_migrations drop checksum`.execute(db);
  await dump.query('select from schema_migrations');
  await migrating(async (waits, ends) => {
    await waits;
    await sql`select from schema_migrations`.execute(db);
    await dump.query('commit');
    await ends;
  });
  const { rows } = await sql<{ lacking: number }>`
    select count(*) as lacking from schema_migrations where checksum is null`.execute(db);
  assert.equal(rows[0]?.lacking, 0);
});

test('runs that have or run again failed items get tables of their own: that of all runs can be read meanwhile', async () => {
  await sql`drop table runs_with_failed_items, workflow_reruns`.execute(db);
  await sql`drop function mark_failed_items cascade`.execute(db);
  await sql`alter table batches drop column file_name, drop column rerun_of`.execute(db);
  await dump.query('select from workflow_runs');
  // Alone, because later migrations may wait for the table.
  await inTransaction(db, async (trx) => {
    await sql`set local lock_timeout = '10s'`.execute(trx);
    await released['0015-failed-items']?.(trx);
  });
  await dump.query('commit');
  await checkSchema(db);
});
