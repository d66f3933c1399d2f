import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { revokeKey } from '../../../src/contract/workspace/keys.ts';

const service = await startService();
after(service.close);
const pathOf = ({ apiKeyId }: { apiKeyId: string }) => `/api/v1/keys/${apiKeyId}/revoke`;

testRefusals(service, revokeKey, { path: pathOf(await service.key()) });

test('404 for a key that the caller cannot see, which stays valid', async () => {
  const [a, b] = [await addAgent(service), await addAgent(service)];
  const editor = await service.member('editor');
  const hidden = await addAgent(service, { visibility: 'private' });
  const caller = await service.key({ agentIds: [a.agentId] });
  const beyond = [
    [{ key: caller.key }, await service.key()],
    [{ key: caller.key }, await service.key({ agentIds: [b.agentId] })],
    [{ key: caller.key }, await service.key({ agentIds: [a.agentId, b.agentId] })],
    [{ user: editor }, await service.key({ agentIds: [hidden.agentId] })],
  ] as const;
  for (const [options, key] of beyond) {
    const { status, body } = await service.call('POST', pathOf(key), options);
    assert.deepEqual([status, body.code], [404, 'NOT_FOUND']);
    assert.equal((await service.call('GET', '/api/v1/keys', { key: key.key })).status, 200);
  }
});
