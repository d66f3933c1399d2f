import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshId } from '../../harness/fresh-id.ts';
import { sealKey } from '../../harness/service.ts';
import { restoreState } from '../../harness/states.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { sql } from '../../src/db/sql.ts';
import { sealURLs } from '../../src/features/events/verbs/seal-urls.ts';

test('a database of the version before keeps its endpoints, and of audited URLs the hosts', async (t) => {
  const database = await restoreState('0793ab16');
  const db = openDatabase({ connection: database.connection, poolMax: 2, onError: () => {} });
  t.after(() => db.destroy().then(database.drop));
  // Its worker would send to what it reads in `url`, so that nothing is sealed as long as it lives.
  const emptied = ['endpoints', 'audit', 'execution_queue', 'workers'];
  await sql.raw(emptied.map((table) => `delete from ${table};`).join(' ')).execute(db);
  const { rows: workspaces } = await sql<{ id: string }>`select id from workspaces`.execute(db);
  const workspaceId = workspaces[0]?.id;
  const urls = [
    ['https://hooks.slack.com/services/T0/B0/secret', 'hooks.slack.com'],
    ['https://shop.example:8443?sig=secret', 'shop.example:8443'],
    ['https://shop.example\\secret', 'shop.example'],
    [null, null],
  ] as const;
  for (const [url] of urls) {
    await sql`
      insert into endpoints (id, workspace_id, url, event_types, payload, format, sealed_secret)
      values (${freshId()}, ${workspaceId}, ${url}, '{key.revoked}', 'thin', 'standard', '')`.execute(
      db,
    );
    await sql`
      insert into audit (id, workspace_id, action, subject, details)
      values (${freshId()}, ${workspaceId}, 'endpoint.create', 'end_x',
        json_build_object('url', ${url}::text, 'eventTypes', json_build_array('key.revoked')))`.execute(
      db,
    );
  }
  const other = '{"url":"https://shop.example/","kept":true}';
  await sql`
    insert into audit (id, workspace_id, action, subject, details)
    values (${freshId()}, ${workspaceId}, 'provider.put', 'x', ${other}::json)`.execute(db);

  await migrate(db);
  const { rows: audited } = await sql<{ details: string }>`
    select details from audit order by id`.execute(db);
  assert.deepEqual(
    audited.map(({ details }) => JSON.parse(details)),
    [...urls.map(([, host]) => ({ host, eventTypes: ['key.revoked'] })), JSON.parse(other)],
  );
  const stored = async () => {
    const { rows } = await sql<{
      url: string | null;
    }>`select url from endpoints order by id`.execute(db);
    return rows.map(({ url }) => url);
  };
  assert.deepEqual(
    await stored(),
    urls.map(([url]) => url),
  );
  await sealURLs(db, sealKey);
  assert.deepEqual(await stored(), [
    'sealed:https://hooks.slack.com',
    'sealed:https://shop.example:8443',
    'sealed:https://shop.example',
    null,
  ]);
});
