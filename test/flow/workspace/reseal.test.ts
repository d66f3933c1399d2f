import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sealKey, startService } from '../../../harness/service.ts';
import { toId } from '../../../src/core/id.ts';
import { deriveSealKey } from '../../../src/core/seal.ts';
import { StartupFailure } from '../../../src/core/startup-failure.ts';
import { createCredentials } from '../../../src/flow/workspace/credentials.ts';
import { reseal } from '../../../src/flow/workspace/reseal.ts';
import type { Db } from '../../../src/store/connection/database.ts';
import { findStoredProvider } from '../../../src/store/people/providers.ts';

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

  assert.equal(await reseal(db, sealKey, newKey), 4);
  for (const [workspaceId, , name] of stored) {
    const provider = await open(db, newKey, workspaceId, name);
    assert.equal(provider?.apiKey, `sk-${name}-${workspaceId}`);
    await assert.rejects(open(db, sealKey, workspaceId, name));
  }
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

async function open(db: Db, sealKey: Buffer, workspaceId: string, name: string) {
  const stored = await findStoredProvider(db, workspaceId, name);
  return (
    stored && createCredentials({ sealKey, onUnreadable: () => {} })(workspaceId, name, stored)
  );
}
