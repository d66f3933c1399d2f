import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { callOver } from '../../../harness/call.ts';
import { openTestDatabase } from '../../../harness/database.ts';
import { startSystemApp } from '../../../harness/system-app.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';

const { connection, db, close } = await openTestDatabase(2);
after(close);

test('draining', async (t) => {
  const app = await startSystemApp({ db, draining: () => true });
  t.after(app.close);
  await assertUnready(app.url, 'The process is draining.');
});

test('the database refuses connections', async (t) => {
  const app = await startSystemApp();
  t.after(app.close);
  await assertUnready(app.url, 'The database does not respond.');
});

test('the database accepts the connection and does not respond', async (t) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const hung = openDatabase({ connection: { host: '127.0.0.1', port }, poolMax: 1, onError() {} });
  const app = await startSystemApp({ db: hung });
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    silent.close();
    await app.close();
    await hung.destroy();
  });
  await assertUnready(app.url, 'The database does not respond.');
});

test('the database is read-only, as after a failover to a standby', async (t) => {
  const one = openDatabase({ connection: connection, poolMax: 1, onError() {} });
  const app = await startSystemApp({ db: one, readinessCachedMs: 0 });
  t.after(async () => {
    await app.close();
    await one.destroy();
  });
  assert.equal((await callOver(app.url, 'GET', '/readyz')).status, 200);
  await sql`set default_transaction_read_only = on`.execute(one);
  await assertUnready(app.url, 'The database is read-only.');
});

test('an execution cannot be accepted', async (t) => {
  const failures: [errcode: string, message: string][] = [
    ['53100', 'The disk of the database is full.'],
    ['42703', 'The database schema does not match this version.'],
    ['42501', 'The database rejects the writes that accept an execution.'],
  ];
  const tables = ['execution_queue', 'limits', 'idempotency'];
  t.after(() => sql`drop function fail_write() cascade`.execute(db));
  await sql`create function fail_write() returns trigger language plpgsql as 'begin end'`.execute(
    db,
  );
  for (const [at, table] of tables.entries()) {
    const [errcode, message] = failures[at] ?? ['', ''];
    await sql`
      create or replace function fail_write() returns trigger language plpgsql as
      ${sql.lit(`begin raise exception using errcode = '${errcode}'; end`)}`.execute(db);
    const trigger = sql.raw(`fail_write before insert on ${table}`);
    await sql`create trigger ${trigger} for each statement execute function fail_write()`.execute(
      db,
    );
    const app = await startSystemApp({ db });
    t.after(app.close);
    await assertUnready(app.url, message);
    await sql`drop trigger fail_write on ${sql.raw(table)}`.execute(db);
  }
});

test('a table lacks a column', async (t) => {
  const app = await startSystemApp({ db, readinessCachedMs: 0 });
  t.after(app.close);
  assert.equal((await callOver(app.url, 'GET', '/readyz')).status, 200);
  await sql`alter table execution_queue rename column tag to label`.execute(db);
  t.after(() => sql`alter table execution_queue rename column label to tag`.execute(db));
  await assertUnready(app.url, 'The database schema does not match this version.');
});

test('a worker process has no lease', async (t) => {
  const app = await startSystemApp({ db, leased: () => false });
  t.after(app.close);
  await assertUnready(app.url, 'The process has no lease.');
});

test('the schema is incomplete, or of a newer version', async (t) => {
  const reason = 'The database schema does not match this version.';
  const lacking = await startSystemApp({ db });
  t.after(lacking.close);
  const { rows } = await sql<{ name: string; timestamp: string }>`
    delete from schema_migrations where name = (select max(name) from schema_migrations)
    returning name, timestamp`.execute(db);
  await assertUnready(lacking.url, reason);

  await sql`insert into schema_migrations (name, timestamp)
    values (${rows[0]?.name}, ${rows[0]?.timestamp}), ('9999-later', '')`.execute(db);
  const older = await startSystemApp({ db });
  t.after(older.close);
  await assertUnready(older.url, reason);
});

async function assertUnready(url: string, message: string): Promise<void> {
  const { status, headers, body } = await callOver(url, 'GET', '/readyz');
  assert.equal(status, 503);
  assert.equal(headers.get('retry-after'), '1');
  assert.deepEqual([body.code, body.message], ['UNAVAILABLE', message]);
}
