import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase } from '../../harness/database.ts';
import { freshId } from '../../harness/fresh-id.ts';
import { addWorkspace } from '../../harness/people.ts';
import { sealKey } from '../../harness/service.ts';
import { sql } from '../../src/db/sql.ts';
import { sealURLs } from '../../src/flow/event/seal-urls.ts';
import { migrate } from '../../src/store/migrate.ts';

test('a database of the version before keeps its endpoints, and of audited URLs the hosts', async (t) => {
  const { db, close } = await openTestDatabase();
  t.after(close);
  const { workspaceId } = await addWorkspace(db);
  await sql
    .raw(`
    drop view active_endpoints;
    alter table endpoints drop column sealed_url;
    create view active_endpoints as
      select p.* from endpoints p
      where p.enabled and (p.api_key_id is null or exists (
        select from api_keys k
        join members m on m.workspace_id = k.workspace_id and m.user_id = k.issued_by and m.role = 'owner'
        where k.id = p.api_key_id and k.revoked_at is null and 'own' = any (k.permissions)
          and (k.expires_at is null or k.expires_at > clock_timestamp())));
    alter table workers drop column opens_urls;
    drop table secret_canary;
    delete from schema_migrations where name = '0009-secrets'`)
    .execute(db);
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
