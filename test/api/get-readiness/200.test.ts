import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { callOver } from '../../../harness/call.ts';
import { openTestDatabase } from '../../../harness/database.ts';
import { startSystemApp } from '../../../harness/system-app.ts';

const { db, close } = await openTestDatabase(2);
const app = await startSystemApp({ db });
after(async () => {
  await app.close();
  await close();
});

test('ready with a migrated database, also after a newer version has migrated it', async () => {
  const first = await callOver(app.url, 'GET', '/readyz');
  assert.equal(first.status, 200);
  assert.deepEqual(first.body, { status: 'ready' });

  await sql`insert into schema_migrations (name, timestamp) values ('9999-later', '')`.execute(db);
  // Longer than the cache, so that the next request reads again.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assert.equal((await callOver(app.url, 'GET', '/readyz')).status, 200);
});
