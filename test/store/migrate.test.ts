import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { untilBlocked } from '../../harness/locks.ts';
import { ReadOnlyFailure } from '../../src/core/startup-failure.ts';
import { type Db, openDatabase } from '../../src/store/connection/database.ts';
import { checkSchema, migrate } from '../../src/store/migrate.ts';

/** A database that lacks two migrations, each of a column of a table of its own; the second table is being dumped. */

const [first, second] = ['0006-generated-passwords', '0008-schedule-errors'];
let database: TestDatabase;
let db: Db;
let dump: pg.Client;

beforeEach(async () => {
  database = await createTestDatabase();
  db = openDatabase({ connection: database.connection, poolMax: 5, onError: () => {} });
  await sql`alter table accounts drop column generated_password`.execute(db);
  await sql`alter table workflow_schedules drop column last_error`.execute(db);
  await sql`delete from schema_migrations where name in (${first}, ${second})`.execute(db);
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

async function made(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from schema_migrations where name in (${first}, ${second}) order by name`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** A handle of another process, and what becomes of its migrations. */
async function migrating(work: (waits: Promise<void>, ends: Promise<void>) => Promise<void>) {
  const own = openDatabase({ connection: database.connection, poolMax: 1, onError: () => {} });
  const waits = Promise.withResolvers<void>();
  const ends = migrate(own, { onWait: waits.resolve });
  ends.catch(() => {});
  await work(Promise.race([waits.promise, ends]), ends).finally(() => own.destroy());
}

test('whoever queues up behind a migration that waits gets through, and it is made once the dump is over', async () => {
  await migrating(async (_waits, ends) => {
    await untilBlocked(db);
    // Were it to wait for the dump, this would wait with it, until it is given up.
    await sql`select from workflow_schedules`.execute(db);
    assert.deepEqual(await made(), [first]);
    await dump.query('commit');
    await ends;
    assert.deepEqual(await made(), [first, second]);
    await sql`select last_error from workflow_schedules`.execute(db);
  });
});

test('what was made before stays made where a process dies while it waits', async () => {
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
  assert.deepEqual(await made(), [first]);
  await sql`select generated_password from accounts`.execute(db);
  await dump.query('commit');
  await migrate(db);
  assert.deepEqual(await made(), [first, second]);
});

test('of many that wait at once one makes it', async () => {
  await migrating((waits, ends) =>
    migrating(async (othersWaits, othersEnds) => {
      await Promise.all([waits, othersWaits]);
      await dump.query('commit');
      await Promise.all([ends, othersEnds]);
    }),
  );
  assert.deepEqual(await made(), [first, second]);
});

test('whoever is told to end waits no longer', async () => {
  const ending = new AbortController();
  const ends = migrate(db, { signal: ending.signal, onWait: () => ending.abort() });
  await assert.rejects(ends, { name: 'AbortError' });
  assert.deepEqual(await made(), [first]);
});

test('of a database that cannot be written to it says so, also where nothing is missing', async () => {
  await dump.query('commit');
  const options = '-c default_transaction_read_only=on';
  const connection = { ...database.connection, options };
  const own = openDatabase({ connection, poolMax: 1, onError: () => {} });
  try {
    await assert.rejects(migrate(own), ReadOnlyFailure);
    await migrate(db);
    await assert.rejects(migrate(own), ReadOnlyFailure);
    await assert.rejects(checkSchema(own), ReadOnlyFailure);
  } finally {
    await own.destroy();
  }
});
