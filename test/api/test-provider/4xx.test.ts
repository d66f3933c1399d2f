import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { testProvider } from '../../../src/contract/workspace/providers.ts';

const requested: string[] = [];
const service = await startService({
  testConnection: async (_, name) => {
    requested.push(name);
    return undefined;
  },
});
after(service.close);
const path = '/api/v1/providers/openai/test';

// Not in the path of unknown ids: a provider name is not an id, and any workspace may use any name.
testRefusals(service, { ...testProvider, path }, { path, body: {} });

test('404 for an unknown or malformed name', async () => {
  const user = service.ownerId;
  for (const name of ['other', 'cueline', 'a%00b', 'x'.repeat(65)]) {
    const { status, body } = await service.call('POST', `/api/v1/providers/${name}/test`, { user });
    assert.deepEqual([status, body.code], [404, 'NOT_FOUND']);
  }
  assert.deepEqual(requested, []);
});

test('403 for an editor, and for an owner’s key that is restricted to agents', async () => {
  const { agentId } = await addAgent(service);
  const { key } = await service.key({ agentIds: [agentId] });
  requested.length = 0;
  for (const options of [{ user: await service.member('editor') }, { key }]) {
    const { status, body } = await service.call('POST', path, options);
    assert.deepEqual([status, body.code], [403, 'PERMISSION_DENIED']);
  }
  assert.deepEqual(requested, []);
});

test('400 for a malformed model name', async () => {
  const user = service.ownerId;
  await service.call('PUT', '/api/v1/providers/openai', { user, body: { kind: 'openai' } });
  requested.length = 0;
  for (const model of ['', 'a b', 'a\nb', 'x'.repeat(257), 1, null]) {
    const { status, body } = await service.call('POST', path, { user, body: { model } });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, /"model"/);
  }
  assert.deepEqual(requested, []);
});
