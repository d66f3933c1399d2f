import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import type { KeyOptions } from '../../../../harness/people.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const pathOf = ({ apiKeyId }: { apiKeyId: string }) => `/api/v1/keys/${apiKeyId}/rotate`;

const stopped: [string, KeyOptions][] = [
  ['revoked', { revokedAt: new Date('2020-01-01') }],
  ['expired', { expiresAt: new Date('2020-01-01') }],
];
for (const [what, options] of stopped) {
  test(`409 for a key that is ${what}`, async () => {
    const { key } = await service.key();
    const response = await service.call('POST', pathOf(await service.key(options)), { key });
    assert.deepEqual([response.status, response.body.code], [409, 'CONFLICT']);
  });
}

test('409 for a rotated key, but not for the new one', async () => {
  const user = service.ownerId;
  const old = await service.key();
  const { body } = await service.call('POST', pathOf(old), { user });
  assert.equal((await service.call('POST', pathOf(old), { user })).status, 409);
  assert.equal((await service.call('POST', pathOf(body), { user })).status, 201);
});

test('403 for a key with more rights than the caller', async () => {
  const agent = await addAgent(service);
  const tie = { agentIds: [agent.agentId] };
  const end = new Date('2090-01-01');
  const narrow: KeyOptions = { permissions: ['read', 'manage'], expiresAt: end, ...tie };
  const { key } = await service.key({ ...narrow, rateLimits: { requestsPerHour: 10 } });
  const like: KeyOptions = {
    ...narrow,
    permissions: ['read'],
    rateLimits: { requestsPerHour: 10 },
  };
  const wider: KeyOptions[] = [
    { ...like, permissions: ['read', 'execute'] },
    { ...like, rateLimits: { requestsPerHour: 11 } },
    { ...like, rateLimits: { requestsPerHour: null } },
    { ...like, expiresAt: new Date('2090-01-02') },
  ];
  for (const options of wider) {
    const old = await service.key(options);
    const response = await service.call('POST', pathOf(old), { key });
    assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
    const still = await service.call('GET', `${agent.path}/executions`, { key: old.key });
    assert.equal(still.status, 200);
  }
  assert.equal((await service.call('POST', pathOf(await service.key(like)), { key })).status, 201);
});

test('404 for a key that the caller cannot see', async () => {
  const [a, b] = [await addAgent(service), await addAgent(service)];
  const { key } = await service.key({ agentIds: [a.agentId] });
  for (const options of [{}, { agentIds: [b.agentId] }, { agentIds: [a.agentId, b.agentId] }]) {
    const response = await service.call('POST', pathOf(await service.key(options)), { key });
    assert.deepEqual([response.status, response.body.code], [404, 'NOT_FOUND']);
  }
});
