import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { callOver } from '../../../harness/call.ts';
import { openTestDatabase } from '../../../harness/database.ts';
import { startSystemApp } from '../../../harness/system-app.ts';
import { sql } from '../../../src/db/sql.ts';

const { db, close } = await openTestDatabase(2);
const app = await startSystemApp({ db });
after(async () => {
  await app.close();
  await close();
});

test('the check writes at most once a second, and leaves nothing', async () => {
  // A rollback does not reset a sequence.
  await sql`create sequence checks`.execute(db);
  await sql`create function count_check() returns trigger language plpgsql as
    $$ begin perform nextval('checks'); return null; end $$`.execute(db);
  await sql`create trigger count_check after insert on execution_queue
    for each row execute function count_check()`.execute(db);
  const startedMs = performance.now();
  const calls = Array.from({ length: 20 }, () => callOver(app.url, 'GET', '/readyz'));
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200);
  const seconds = (performance.now() - startedMs) / 1_000;
  const { rows: counted } = await sql<{ checks: number }>`
    select last_value as checks from checks where is_called`.execute(db);
  const checks = counted[0]?.checks ?? 0;
  assert.ok(checks >= 1 && checks <= 1 + seconds, `${checks} checks in ${seconds} s`);
  for (const table of ['executions', 'execution_queue', 'idempotency', 'limits', 'statistics']) {
    const { rows } = await sql`select from ${sql.table(table)}`.execute(db);
    assert.equal(rows.length, 0, table);
  }
});

test('ready with a migrated database, also after a newer version has migrated it', async (t) => {
  const app = await startSystemApp({ db, readinessCachedMs: 0 });
  t.after(app.close);
  const first = await callOver(app.url, 'GET', '/readyz');
  assert.equal(first.status, 200);
  assert.deepEqual(first.body, { status: 'ready' });

  await sql`insert into schema_migrations (name, timestamp) values ('9999-later', '')`.execute(db);
  assert.equal((await callOver(app.url, 'GET', '/readyz')).status, 200);
});
