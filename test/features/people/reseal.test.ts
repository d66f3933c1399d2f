import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase } from '../../../harness/database.ts';
import { type Service, sealKey, startService } from '../../../harness/service.ts';
import { toId } from '../../../src/core/id.ts';
import { sealURLOwner } from '../../../src/core/model/provider.ts';
import { deriveSealKey, unseal } from '../../../src/core/seal.ts';
import { StartupFailure } from '../../../src/core/startup-failure.ts';
import type { Db } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import { findStoredProvider } from '../../../src/features/providers/statements/providers.ts';
import { createCredentials } from '../../../src/features/providers/verbs/credentials.ts';
import { acceptSecret, reseal, verifySecret } from '../../../src/process/setup/reseal.ts';

const wrong = (error: unknown) => {
  assert.ok(error instanceof StartupFailure);
  // One sentence, with both places where the secret may be, and what to do.
  assert.match(
    error.message,
    /^The secret \(CUELINE_SECRET, or the file [^.]*"cueline secrets reset"\.$/,
  );
  return true;
};

/** What an earlier version may have encrypted. */
const stores: Record<string, (service: Service) => Promise<unknown>> = {
  provider: (service) =>
    service.call('PUT', '/api/v1/providers/openai', {
      ...{ user: service.ownerId, body: { kind: 'openai', apiKey: 'sk-x' } },
    }),
  'the headers of a provider': (service) =>
    service.call('PUT', '/api/v1/providers/bare', {
      ...{ user: service.ownerId, body: { kind: 'ollama', headers: { 'x-key': 'hidden' } } },
    }),
  endpoint: async (service) => {
    const body = { url: 'https://shop.example/x', eventTypes: ['key.revoked'] };
    await service.call('POST', '/api/v1/endpoints', { user: service.ownerId, body });
    // A URL is sealed by this version only.
    await sql`update endpoints set url = ${body.url}, sealed_url = null`.execute(service.db);
  },
};

const newKey = deriveSealKey('the next secret of this server');

test('every credential of every workspace is encrypted with the new key', async (t) => {
  const service = await startService();
  t.after(service.close);
  const { db } = service;
  const other = await service.workspace();
  const stored: [string, string, string][] = [
    [service.workspaceId, service.ownerId, 'openai'],
    [service.workspaceId, service.ownerId, 'anthropic'],
    [other.workspaceId, other.ownerId, 'openai'],
  ];
  for (const [workspaceId, user, name] of stored) {
    const body = { kind: 'openai', apiKey: `sk-${name}-${workspaceId}` };
    await service.call('PUT', `/api/v1/providers/${name}`, { user, body });
  }
  const body = { kind: 'ollama', headers: { 'x-key': 'hidden' } };
  await service.call('PUT', '/api/v1/providers/bare', { user: service.ownerId, body });

  const url = 'https://hooks.slack.com/services/secret';
  await service.call('POST', '/api/v1/endpoints', {
    ...{ user: service.ownerId, body: { url, eventTypes: ['key.revoked'] } },
  });

  // Three keys, headers, the secret of the endpoint and its URL.
  assert.equal(await reseal(db, sealKey, newKey), 6);
  for (const [workspaceId, , name] of stored) {
    const provider = await open(db, newKey, workspaceId, name);
    assert.equal(provider?.apiKey, `sk-${name}-${workspaceId}`);
    await assert.rejects(open(db, sealKey, workspaceId, name));
  }
  const endpoint = await sealedURL(db);
  assert.equal(unseal(newKey, endpoint.sealedUrl, sealURLOwner(endpoint)), url);
  const bare = await open(db, newKey, service.workspaceId, 'bare');
  assert.deepEqual([bare?.apiKey, bare?.extras.headers], [null, { 'x-key': 'hidden' }]);
  // Repeating it, for instance after a lost response, is harmless.
  assert.equal(await reseal(db, sealKey, newKey), 0);
});

test('a credential that cannot be decrypted is named, and nothing is changed', async (t) => {
  const service = await startService();
  t.after(service.close);
  const { db, workspaceId, ownerId: user } = service;
  for (const name of ['good', 'bad']) {
    const body = { kind: 'openai', apiKey: 'sk-x' };
    await service.call('PUT', `/api/v1/providers/${name}`, { user, body });
  }
  await sql`update providers set sealed_api_key = 'nonsense'::bytea where name = 'bad'`.execute(db);
  await assert.rejects(reseal(db, sealKey, newKey), (error) => {
    assert.ok(error instanceof StartupFailure);
    assert.ok(error.message.includes(`'bad' of ${toId('workspace', workspaceId)}.`));
    assert.ok(!error.message.includes('good'));
    return true;
  });
  assert.equal((await open(db, sealKey, workspaceId, 'good'))?.apiKey, 'sk-x');
});

test('a server with another secret does not start once one has', async (t) => {
  const { db, close } = await openTestDatabase();
  t.after(close);
  await verifySecret(db, sealKey);
  await verifySecret(db, sealKey);
  await assert.rejects(verifySecret(db, newKey), wrong);
  await assert.rejects(reseal(db, newKey, deriveSealKey('a third secret')), wrong);
  await reseal(db, sealKey, newKey);
  await verifySecret(db, newKey);
  await assert.rejects(verifySecret(db, sealKey), wrong);
  // The new one is lost.
  await acceptSecret(db, sealKey);
  await verifySecret(db, sealKey);
  await assert.rejects(verifySecret(db, newKey), wrong);
});

for (const [what, store] of Object.entries(stores)) {
  test(`a database of an earlier version is verified by ${what}`, async (t) => {
    const service = await startService();
    t.after(service.close);
    const { db } = service;
    await store(service);
    await assert.rejects(verifySecret(db, newKey), wrong);
    await verifySecret(db, sealKey);
    await assert.rejects(verifySecret(db, newKey), wrong);
  });
}

test('of several secrets that credentials were encrypted with, the first that starts is right', async (t) => {
  const service = await startService();
  t.after(service.close);
  const { db } = service;
  await stores.provider?.(service);
  await sql`
    insert into providers (id, workspace_id, name, kind, sealed_api_key)
    values (gen_random_uuid(), ${service.workspaceId}, 'lost', 'openai', 'nonsense')`.execute(db);
  await verifySecret(db, sealKey);
  await assert.rejects(verifySecret(db, newKey), wrong);
});

async function sealedURL(db: Db) {
  const { rows } = await sql<{ id: string; workspaceId: string; sealedUrl: Buffer }>`
    select id, workspace_id, sealed_url from endpoints`.execute(db);
  assert.ok(rows[0]);
  return rows[0];
}

async function open(db: Db, sealKey: Buffer, workspaceId: string, name: string) {
  const stored = await findStoredProvider(db, workspaceId, name);
  return (
    stored && createCredentials({ sealKey, onUnreadable: () => {} })(workspaceId, name, stored)
  );
}
