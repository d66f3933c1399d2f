import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addEndpoint, type TestEndpoint } from '../../../harness/endpoints.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { type Receiver, startReceiver, toReceivers } from '../../../harness/receiver.ts';
import { type Service, sealKey, startService } from '../../../harness/service.ts';
import { fromId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import { sealURLs } from '../../../src/features/events/verbs/seal-urls.ts';
import { checkEndpointURL } from '../../../src/net/guard.ts';
import { createPostEvent } from '../../../src/net/post-event.ts';

/** URLs of endpoints are sealed in the database, and nobody reads their path and query back. */

let service: Service;
let receiver: Receiver;
let key: string;
/** With a secret in the path and one in the query. */
let url: string;
/** What callers see of it. */
let shown: string;
/** The second is as short as a word of a path. */
const [inPath, inQuery] = ['B0secretInThePath/x', 'secret-in-q'];

before(async () => {
  service = await startService({ config: toReceivers });
  receiver = await startReceiver((_, response) => {
    response.end(`Cannot POST /services/${inPath}?sig=${inQuery}, sig ${inQuery}`);
  });
  ({ key } = await service.key());
  url = `${new URL(receiver.url).origin}/services/${inPath}?sig=${inQuery}`;
  shown = `${new URL(receiver.url).origin}/…`;
});
after(async () => {
  await service.close();
  await receiver.close();
});

test('neither the database nor a response has path or query, and events arrive', async () => {
  const created = await service.call('POST', '/api/v1/endpoints', {
    key,
    body: { url, eventTypes: ['key.revoked'] },
  });
  assert.deepEqual([created.status, created.body.url], [201, shown]);
  const { endpointId } = created.body;
  const path = `/api/v1/endpoints/${endpointId}`;
  const read = async (below = '') => (await service.call('GET', below || path, { key })).body;
  assert.equal((await service.call('POST', `${path}/test`, { key })).status, 202);
  const [request] = await receiver.received(1);
  assert.equal(request?.event.data.endpointId, endpointId);
  let answer: string | null = null;
  while (answer === null) {
    answer = (await read(`${path}/deliveries`)).deliveries[0].attempts[0]?.answer ?? null;
  }
  assert.equal(answer, 'Cannot POST [redacted], sig [redacted]');
  const { audit } = await read('/api/v1/audit?action=endpoint.create');
  assert.equal(audit[0].details.host, new URL(url).host);
  const responses = [await read(), await read('/api/v1/endpoints'), audit, created.body];
  assert.doesNotMatch(JSON.stringify(responses), /secret-?in/i);
  assert.doesNotMatch(await dump(), /secret-?in/i);
});

test('a PATCH without a URL, or with the shown one, keeps it', async () => {
  const { endpoint } = await sealedEndpoint();
  for (const change of [{ description: 'Shop' }, { url: shown }, { url: shown, payload: 'thin' }]) {
    assert.equal((await endpoint.call('PATCH', '', change)).url, shown);
    await arrives(endpoint);
  }
  const own = await service.key({ permissions: ['own'] });
  await endpoint.call('PATCH', '', { payload: 'full' });
  const kept = await service.call('PATCH', endpoint.path, { key: own.key, body: { url: shown } });
  assert.equal(kept.status, 200);
});

test('a shortened URL of another endpoint is refused', async () => {
  const { endpoint } = await sealedEndpoint();
  const body = { url: 'https://shop.example/…', eventTypes: ['key.revoked'] };
  const { eventTypes: _, ...change } = body;
  for (const { status, body: problem } of [
    await service.call('POST', '/api/v1/endpoints', { key, body }),
    await service.call('PATCH', endpoint.path, { key, body: change }),
  ]) {
    assert.equal(status, 400);
    assert.match(problem.message, /"url".*whole URL/);
  }
});

test('a new URL replaces the sealed one', async () => {
  const { endpoint, id } = await sealedEndpoint();
  const other = await startReceiver();
  await endpoint.call('PATCH', '', { url: other.url });
  await endpoint.call('POST', '/test');
  assert.equal((await other.received(1))[0]?.event.data.endpointId, endpoint.endpointId);
  assert.equal((await endpoint.call('PATCH', '', { url: null })).url, null);
  assert.deepEqual(await storedURL(id), { url: null, sealed: false });
  const path = `/api/v1/audit?action=endpoint.change&subject=${endpoint.endpointId}`;
  const { audit } = (await service.call('GET', path, { key })).body;
  assert.deepEqual(
    audit.map(({ details }: { details: object }) => details),
    [
      { fields: ['url'], host: null },
      { fields: ['url'], host: new URL(other.url).host },
    ],
  );
  await other.close();
});

test('a worker seals what an earlier version wrote, and shortens what it audited', async () => {
  const { endpoint, id } = await sealedEndpoint();
  await writePlain(id, url);
  await sql`
    update audit set details = json_build_object('url', ${url}::text, 'eventTypes', '[]'::json)
    where action = 'endpoint.create' and subject = ${endpoint.endpointId}`.execute(service.db);
  await arrives(endpoint);
  assert.equal((await endpoint.call('GET')).url, shown);
  await sealURLs(service.db, sealKey);
  assert.equal((await storedURL(id)).sealed, true);
  const path = `/api/v1/audit?action=endpoint.create&subject=${endpoint.endpointId}`;
  const { audit } = (await service.call('GET', path, { key })).body;
  assert.deepEqual(audit[0].details, { host: new URL(url).host, eventTypes: [] });
  assert.doesNotMatch(await dump(), /secret-?in/i);
  await arrives(endpoint);
});

test('nothing is sealed while a worker of an earlier version is there', async () => {
  const { endpoint, id } = await sealedEndpoint();
  await writePlain(id, url);
  const worker = freshId();
  await sql`
    insert into workers (id, lease_until) values (${worker}, clock_timestamp() + interval '1 hour')`.execute(
    service.db,
  );
  await sealURLs(service.db, sealKey);
  assert.deepEqual(await storedURL(id), { url, sealed: false });
  await arrives(endpoint);
  await sql`delete from workers where id = ${worker}`.execute(service.db);
  await sealURLs(service.db, sealKey);
  assert.equal((await storedURL(id)).sealed, true);
});

test('a URL that an earlier version writes over a sealed one counts, and is sealed', async () => {
  const { endpoint, id } = await sealedEndpoint();
  const other = await startReceiver();
  await sql`update endpoints set url = ${`${other.url}?sig=${inQuery}`} where id = ${id}`.execute(
    service.db,
  );
  await endpoint.call('POST', '/test');
  await other.received(1);
  await sealURLs(service.db, sealKey);
  await endpoint.call('POST', '/test');
  await other.received(2);
  assert.doesNotMatch(await dump(), /secret-?in/i);
  await other.close();
});

test('an earlier version sends to no sealed URL, keeps its deliveries and does not delete it', async () => {
  const { endpoint, id } = await sealedEndpoint();
  const { url: stored = '' } = await storedURL(id);
  const allowedHosts = [new URL(url).host, '127.0.0.1', 'localhost'];
  assert.match(String(await checkEndpointURL(String(stored), allowedHosts)), /https:/);
  const hideSecrets = (text: string) => text;
  const { post, close } = createPostEvent({ allowedHosts, hideSecrets });
  const { signal } = new AbortController();
  await assert.rejects(post({ url: String(stored), headers: {}, body: '{}', signal }), /https:/);
  await close();
  // Its statements write deliveries for endpoints with a URL, and delete old ones without.
  const { rows } = await sql`
    select from active_endpoints where id = ${id} and url is not null`.execute(service.db);
  assert.equal(rows.length, 1);
  // What it writes back, because it did not change it.
  await sql`update endpoints set url = url, description = 'Old' where id = ${id}`.execute(
    service.db,
  );
  await arrives(endpoint);
});

async function sealedEndpoint() {
  const endpoint = await addEndpoint(service, key, { url, eventTypes: ['key.revoked'] });
  const id = fromId('endpoint', endpoint.endpointId) ?? '';
  assert.equal((await storedURL(id)).sealed, true);
  return { endpoint, id };
}

async function storedURL(id: string) {
  const { rows } = await sql<{ url: string | null; sealed: boolean }>`
    select url, coalesce(url like 'sealed:%', false) as sealed from endpoints where id = ${id}`.execute(
    service.db,
  );
  assert.ok(rows[0]);
  return rows[0];
}

/** As an earlier version has it. */
async function writePlain(id: string, text: string) {
  await sql`update endpoints set url = ${text}, sealed_url = null where id = ${id}`.execute(
    service.db,
  );
}

async function arrives(endpoint: TestEndpoint) {
  const count = receiver.requests.length;
  await endpoint.call('POST', '/test');
  const requests = await receiver.received(count + 1);
  assert.equal(requests[count]?.event.data.endpointId, endpoint.endpointId);
}

/** The database as text. */
async function dump() {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`.execute(service.db);
  const rows: string[] = [];
  for (const { name } of tables) {
    const found = await sql<{
      row: string;
    }>`select t::text as row from ${sql.table(name)} t`.execute(service.db);
    rows.push(...found.rows.map(({ row }) => row));
  }
  return rows.join('\n');
}
