import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { freezeWindows } from '../../../../harness/windows.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const user = service.ownerId;

async function update(apiKeyId: string, body: object, by: object = { user }) {
  const response = await service.call('PATCH', `/api/v1/keys/${apiKeyId}`, { ...by, body });
  assert.equal(response.status, 200, JSON.stringify(response.body));
  return response.body;
}

const execute = async (key: string) => {
  const call = { key, body: { variables: { name: 'x' } } };
  return (await service.call('POST', `${agent.path}/execute`, call)).status;
};

test('changes the name alone and keeps the rest', async () => {
  const { apiKeyId } = await service.key({ agentIds: [agent.agentId] });
  const before = (await service.call('GET', '/api/v1/keys', { user })).body.keys.find(
    (one: { apiKeyId: string }) => one.apiKeyId === apiKeyId,
  );
  const after = await update(apiKeyId, { name: 'Shop' });
  assert.deepEqual(
    { ...after, rateLimitUsage: [] },
    { ...before, name: 'Shop', rateLimitUsage: [] },
  );
});

test('new limits apply to the next call, and a missing window does not change', async () => {
  const { key, apiKeyId, id } = await service.key({ rateLimits: { requestsPerMinute: 5 } });
  await freezeWindows(service.db, id);
  assert.equal(await execute(key), 202);
  const { rateLimits } = await update(apiKeyId, { rateLimits: { requestsPerMinute: 1 } });
  assert.deepEqual(rateLimits, {
    ...{ requestsPerMinute: 1, requestsPerHour: 5_000, requestsPerDay: 100_000 },
  });
  assert.equal(await execute(key), 429);
  await update(apiKeyId, { rateLimits: { requestsPerMinute: null } });
  assert.equal(await execute(key), 202);
});

test('the audit log names the change, and no line is written without one', async () => {
  const { apiKeyId } = await service.key();
  await update(apiKeyId, { name: 'Mobile', rateLimits: { requestsPerDay: 7 } });
  await update(apiKeyId, {});
  const { body } = await service.call('GET', `/api/v1/audit?subject=${apiKeyId}`, { user });
  const lines = body.audit.map(({ action, details }: { action: string; details: object }) => ({
    ...{ action, details },
  }));
  assert.deepEqual(lines, [
    {
      action: 'key.change',
      details: { name: 'Mobile', rateLimits: { requestsPerDay: 7 } },
    },
  ]);
});

test('a key changes itself within its own limits', async () => {
  const own = { permissions: ['manage'] as const, rateLimits: { requestsPerMinute: 5 } };
  const { key, apiKeyId } = await service.key({ ...own, permissions: ['manage'] });
  assert.equal((await update(apiKeyId, { name: 'Mine' }, { key })).name, 'Mine');
  const wider = { rateLimits: { requestsPerMinute: 6 } };
  const refused = await service.call('PATCH', `/api/v1/keys/${apiKeyId}`, { key, body: wider });
  assert.deepEqual([refused.status, refused.body.code], [403, 'PERMISSION_DENIED']);
});

test('409 for a key that has ended', async () => {
  const expired = await service.key({ expiresAt: new Date('2020-01-01') });
  const revoked = await service.key();
  await service.call('POST', `/api/v1/keys/${revoked.apiKeyId}/revoke`, { user });
  for (const key of [expired, revoked]) {
    const response = await service.call('PATCH', `/api/v1/keys/${key.apiKeyId}`, {
      ...{ user, body: { name: 'New' } },
    });
    assert.deepEqual([response.status, response.body.code], [409, 'CONFLICT']);
  }
});
