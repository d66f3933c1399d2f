import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../harness/agents.ts';
import { sealKey, startService } from '../../../harness/service.ts';
import { noExtras } from '../../../src/core/model/request-extras.ts';
import { deriveSealKey } from '../../../src/core/seal.ts';
import { sql } from '../../../src/db/sql.ts';
import { findStoredProvider } from '../../../src/features/providers/statements/providers.ts';
import { createCredentials } from '../../../src/features/providers/verbs/credentials.ts';

const service = await startService();
after(service.close);
const { db, workspaceId } = service;
const user = service.ownerId;
const put = (name: string, body: object) =>
  service.call('PUT', `/api/v1/providers/${name}`, { user, body });

const bare = { extras: noExtras, organization: null, project: null, auth: null };

function credentials(key: Buffer) {
  const unreadable: object[] = [];
  const onUnreadable = (provider: object) => void unreadable.push(provider);
  const opened = createCredentials({ sealKey: key, onUnreadable });
  const open = async (workspaceId: string, name: string) => {
    const stored = await findStoredProvider(db, workspaceId, name);
    return stored && opened(workspaceId, name, stored);
  };
  return { open, unreadable };
}

test('a stored credential is decrypted, and a change takes effect at once', async () => {
  const { open, unreadable } = credentials(sealKey);
  assert.equal(await open(workspaceId, 'mine'), null);
  const baseURL = 'https://llm.example.com/v1';
  await put('mine', { kind: 'openai-compatible', apiKey: 'sk-1', baseURL });
  assert.deepEqual(await open(workspaceId, 'mine'), {
    ...{ name: 'mine', kind: 'openai-compatible', apiKey: 'sk-1', baseURL },
    ...bare,
  });
  await put('mine', { kind: 'openai' });
  assert.deepEqual(await open(workspaceId, 'mine'), {
    ...{ name: 'mine', kind: 'openai', apiKey: null, baseURL: null },
    ...bare,
  });
  const { workspaceId: other } = await service.workspace();
  assert.equal(await open(other, 'mine'), null);
  assert.deepEqual(unreadable, []);
});

const unreadable: [string, string, (name: string) => Promise<unknown>][] = [
  ['under another secret', 'lost', async () => {}],
  [
    'copied from another row',
    'copied',
    async (name) => {
      await put('original', { kind: 'openai', apiKey: 'sk-original' });
      await sql`update providers set sealed_api_key =
        (select sealed_api_key from providers where name = 'original') where name = ${name}`.execute(
        db,
      );
    },
  ],
  [
    'bent',
    'bent',
    (name) =>
      sql`update providers set sealed_api_key = 'nonsense'::bytea where name = ${name}`.execute(db),
  ],
];
for (const [what, name, spoil] of unreadable) {
  test(`a credential ${what} means PROVIDER_NOT_CONFIGURED and is reported`, async () => {
    await put(name, { kind: 'openai', apiKey: 'sk-mine' });
    await spoil(name);
    const key = name === 'lost' ? deriveSealKey('another secret altogether') : sealKey;
    const { open, unreadable: shown } = credentials(key);
    await assert.rejects(open(workspaceId, name), {
      name: 'ModelFailure',
      code: 'PROVIDER_NOT_CONFIGURED',
      message: `The credential of provider '${name}' cannot be decrypted. Store it again.`,
    });
    assert.deepEqual(shown, [{ workspaceId, name }]);
  });
}

test('an execution that needs such a credential fails with the reason', async () => {
  await put('gone', { kind: 'openai', apiKey: 'sk-mine' });
  const { open } = credentials(deriveSealKey('another secret altogether'));
  service.models.script(async (call) => {
    await open(call.workspaceId, 'gone');
    return {};
  });
  const agent = await addAgent(service, { model: 'gone/model' });
  const { key } = await service.key();
  const record = await run(service, agent, key);
  assert.deepEqual([record.status, record.errorCode], ['failed', 'PROVIDER_NOT_CONFIGURED']);
  assert.match(record.error, /'gone' cannot be decrypted/);
});
