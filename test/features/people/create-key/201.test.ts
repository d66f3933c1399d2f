import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId, toId } from '../../../../src/core/id.ts';
import { hashBytes, hashKey, isKey } from '../../../../src/core/people/key.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/keys';
const agent = await addAgent(service);
const execute = (key: string) =>
  service.call('POST', `${agent.path}/execute`, { key, body: { variables: { name: 'x' } } });

test('returns the secret once, and stores only its hash', async () => {
  const { key, id } = await service.key();
  const body = { name: 'CI', agentIds: null, permissions: ['execute', 'read'] };
  const created = await service.call('POST', path, { key, body });
  assert.equal(created.status, 201);
  const { key: secret, apiKeyId, createdAt, rateLimitUsage, ...rest } = created.body;
  assert.ok(isKey(secret));
  const left = rateLimitUsage.map((one: { window: string; used: number; remaining: number }) => [
    one.window,
    one.used,
    one.remaining,
  ]);
  assert.deepEqual(left, [
    ['minute', 0, 100],
    ['hour', 0, 5_000],
    ['day', 0, 100_000],
  ]);
  assert.deepEqual(rest, {
    ...body,
    start: secret.slice(0, 10),
    rateLimits: { requestsPerMinute: 100, requestsPerHour: 5_000, requestsPerDay: 100_000 },
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    allowedOrigins: [],
    createdBy: toId('user', service.ownerId),
    parentApiKeyId: toId('key', id),
  });
  assert.equal((await execute(secret)).status, 202);

  const listed = await service.call('GET', path, { key });
  assert.ok(!JSON.stringify(listed.body).includes(secret));
  const { rows } = await sql<{ row: string; hash: Buffer }>`
    select to_jsonb(k)::text as row, hash from api_keys k
    where id = ${fromId('key', apiKeyId)}`.execute(service.db);
  assert.ok(!rows[0]?.row.includes(secret.slice(10)));
  assert.deepEqual(rows[0]?.hash, hashBytes(hashKey(secret)));
});

test('an omitted window gets its default; null means no limit', async () => {
  const { key } = await service.key({
    rateLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null },
  });
  const limitsOf = async (rateLimits: object) => {
    const body = { name: 'limits', agentIds: null, permissions: ['read'], rateLimits };
    return (await service.call('POST', path, { key, body })).body.rateLimits;
  };
  assert.deepEqual(await limitsOf({}), {
    ...{ requestsPerMinute: 100, requestsPerHour: 5_000, requestsPerDay: 100_000 },
  });
  assert.deepEqual(await limitsOf({ requestsPerMinute: null, requestsPerHour: 0 }), {
    ...{ requestsPerMinute: null, requestsPerHour: 0, requestsPerDay: 100_000 },
  });
});

test('its limits apply from the first request on', async () => {
  const user = service.ownerId;
  const rateLimits = { requestsPerMinute: null, requestsPerHour: 0, requestsPerDay: null };
  const body = { name: 'none', agentIds: null, permissions: ['execute'], rateLimits };
  const { body: created } = await service.call('POST', path, { user, body });
  const response = await execute(created.key);
  assert.equal(response.status, 429);
  assert.deepEqual(response.body.rateLimits, rateLimits);
});

test('an editor’s session issues a key in the editor’s name', async () => {
  const user = await service.member('editor');
  const own = await addAgent(service, { visibility: 'private', createdBy: user });
  const permissions = ['execute', 'read', 'cancel', 'manage'];
  const body = { name: 'mine', agentIds: [own.agentId, agent.agentId], permissions };
  const { status, body: created } = await service.call('POST', path, { user, body });
  assert.equal(status, 201);
  assert.equal(created.createdBy, toId('user', user));
  assert.deepEqual(created.agentIds.toSorted(), body.agentIds.toSorted());
  assert.deepEqual(created.permissions, permissions);
});

test('a key issues a key with its own rights, in the name of its issuer', async () => {
  const userId = await service.member('editor');
  const expiresAt = new Date('2098-07-06T05:04:03.210Z');
  const rateLimits = { requestsPerMinute: 5, requestsPerHour: null, requestsPerDay: 7 };
  const issuer = await service.key({
    ...{ userId, agentIds: [agent.agentId], permissions: ['execute', 'manage'] },
    ...{ rateLimits, expiresAt, allowedOrigins: ['https://a.example'] },
  });
  const body = {
    ...{ name: 'like', agentIds: [agent.agentId], permissions: ['manage', 'execute'], rateLimits },
    ...{ expiresAt: expiresAt.toISOString(), allowedOrigins: ['https://b.example'] },
  };
  const { status, body: created } = await service.call('POST', path, { key: issuer.key, body });
  assert.equal(status, 201);
  assert.equal(created.createdBy, toId('user', userId));
  assert.deepEqual({ ...created, ...body }, created);
});

const times = [
  ['2097-01-01', '2097-01-01T00:00:00.000Z'],
  ['2097-01-01T02:00:00+02:00', '2097-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  [null, null],
] as const;
for (const [expiresAt, expected] of times) {
  test(`expires at ${expiresAt}`, async () => {
    const body = { name: 'x', agentIds: null, permissions: ['read'], expiresAt };
    const { body: created } = await service.call('POST', path, { user: service.ownerId, body });
    assert.equal(created.expiresAt, expected);
  });
}

test('CORS allows its origins exactly, for its agents only', async () => {
  const user = service.ownerId;
  const origin = 'https://app.example.com';
  const body = { name: 'web', agentIds: [agent.agentId], permissions: ['read', 'execute'] };
  const created = await service.call('POST', path, {
    user,
    body: { ...body, allowedOrigins: [origin] },
  });
  const { key } = created.body;
  const allowed = async (from: string, options: object = { key }) => {
    const headers = { origin: from };
    const response = await service.call('GET', `${agent.path}/executions`, { ...options, headers });
    return response.headers.get('access-control-allow-origin');
  };
  assert.equal(await allowed(origin), origin);
  assert.equal(await allowed('https://app.example.com:8443'), null);
  assert.equal(await allowed('http://app.example.com'), null);
  assert.equal(await allowed('https://evil-app.example.com'), null);
  assert.equal(await allowed(origin, { user }), null);

  const preflight = async (to: string) => {
    const headers = { origin, 'access-control-request-method': 'POST' };
    const response = await fetch(`${service.url}${to}/execute`, { method: 'OPTIONS', headers });
    return response.headers.get('access-control-allow-origin');
  };
  assert.equal(await preflight(agent.path), origin);
  assert.equal(await preflight((await addAgent(service)).path), null);
  await service.call('POST', `${path}/${created.body.apiKeyId}/revoke`, { user });
  assert.equal(await preflight(agent.path), null);
});
