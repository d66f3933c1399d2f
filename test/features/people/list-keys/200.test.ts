import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import type { CallOptions } from '../../../../harness/call.ts';
import { startService } from '../../../../harness/service.ts';
import { freezeWindows, frozenResetAt } from '../../../../harness/windows.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/keys';

async function listed(options: CallOptions, query = '?limit=100'): Promise<string[]> {
  const { status, body } = await service.call('GET', path + query, options);
  assert.equal(status, 200);
  return body.keys.map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId);
}

/** Sorted by id, because two keys may be created within one millisecond. */
function newestFirst(...keys: { apiKeyId: string }[]): string[] {
  return keys
    .map(({ apiKeyId }) => apiKeyId)
    .toSorted()
    .toReversed();
}

test('lists all keys of the workspace, ended ones included, newest first', async () => {
  const { workspaceId, ownerId: user } = await service.workspace();
  const issue = { workspaceId, userId: user };
  const plain = await service.key(issue);
  const revokedAt = new Date('2026-01-02T03:04:05.678Z');
  const revoked = await service.key({ ...issue, revokedAt });
  const expiresAt = new Date('2026-02-03T04:05:06.789Z');
  const expired = await service.key({ ...issue, expiresAt });

  const { body } = await service.call('GET', path, { user });
  const byId = new Map<string, object>(
    body.keys.map((one: { apiKeyId: string }) => [one.apiKeyId, one]),
  );
  assert.deepEqual([...byId.keys()], newestFirst(plain, revoked, expired));
  assert.deepEqual(body.pagination, { limit: 20, offset: 0, total: 3, hasMore: false });
  assert.partialDeepStrictEqual(byId.get(plain.apiKeyId), {
    ...{ start: plain.key.slice(0, 10), agentIds: null, revokedAt: null, expiresAt: null },
  });
  assert.partialDeepStrictEqual(byId.get(revoked.apiKeyId), { revokedAt: revokedAt.toISOString() });
  assert.partialDeepStrictEqual(byId.get(expired.apiKeyId), { expiresAt: expiresAt.toISOString() });
  for (const { key } of [plain, revoked, expired]) assert.ok(!JSON.stringify(body).includes(key));
});

test('lists only revoked keys, or only others', async () => {
  const { workspaceId, ownerId: user } = await service.workspace();
  const issue = { workspaceId, userId: user };
  const plain = await service.key(issue);
  const expired = await service.key({ ...issue, expiresAt: new Date('2026-02-03') });
  const revoked = await service.key({ ...issue, revokedAt: new Date('2026-01-02') });
  assert.deepEqual(await listed({ user }, '?revoked=true'), newestFirst(revoked));
  assert.deepEqual(await listed({ user }, '?revoked=false'), newestFirst(plain, expired));
  const { body } = await service.call('GET', `${path}?revoked=false&limit=1`, { user });
  assert.deepEqual(body.pagination, { limit: 1, offset: 0, total: 2, hasMore: true });
});

test('lists keys in pages', async () => {
  const { workspaceId, ownerId: user } = await service.workspace();
  for (let i = 0; i < 5; i++) await service.key({ workspaceId, userId: user });
  const all = await listed({ user });
  const page = async (query: string) => (await service.call('GET', path + query, { user })).body;
  const first = await page('?limit=2');
  assert.deepEqual(first.pagination, { limit: 2, offset: 0, total: 5, hasMore: true });
  assert.deepEqual(await listed({ user }, '?limit=2'), all.slice(0, 2));
  assert.deepEqual(await listed({ user }, '?limit=2&offset=3'), all.slice(3));
  const last = await page('?limit=2&offset=3');
  assert.deepEqual(last.pagination, { limit: 2, offset: 3, total: 5, hasMore: false });
  const beyond = await page('?offset=5');
  assert.deepEqual(beyond, {
    keys: [],
    pagination: { limit: 20, offset: 5, total: 5, hasMore: false },
  });
});

test('a viewer sees all keys except those for other members’ private agents', async () => {
  const editor = await service.member('editor');
  const viewer = await service.member('viewer');
  const open = await addAgent(service);
  const hidden = await addAgent(service, { visibility: 'private', createdBy: editor });
  const both = await service.key({ userId: editor, agentIds: [open.agentId, hidden.agentId] });
  const one = await service.key({ userId: editor, agentIds: [open.agentId] });
  const sights = [
    [viewer, [one.apiKeyId]],
    [editor, [both.apiKeyId, one.apiKeyId]],
    [service.ownerId, [both.apiKeyId, one.apiKeyId]],
  ] as const;
  for (const [user, seen] of sights) {
    const ids = await listed({ user });
    assert.deepEqual(
      [both.apiKeyId, one.apiKeyId].filter((id) => ids.includes(id)),
      seen,
    );
  }
});

test('the issuer sees a key even if its agent becomes hidden', async () => {
  const editor = await service.member('editor');
  const agent = await addAgent(service);
  const { apiKeyId } = await service.key({ userId: editor, agentIds: [agent.agentId] });
  await sql`update agents set visibility = 'private' where id = ${agent.id}`.execute(service.db);
  assert.ok((await listed({ user: editor })).includes(apiKeyId));
  assert.ok(!(await listed({ user: await service.member('editor') })).includes(apiKeyId));
});

test('a limited key sees the keys whose agents it can all access', async () => {
  const [a, b, c] = [await addAgent(service), await addAgent(service), await addAgent(service)];
  const tied = (...agents: { agentId: string }[]) =>
    service.key({ agentIds: agents.map(({ agentId }) => agentId) });
  const own = await tied(a, b);
  const seen = [own, await tied(a), await tied(b, a)];
  await tied(a, c);
  await tied(c);
  await service.key();
  assert.deepEqual(await listed({ key: own.key }), newestFirst(...seen));
  const { body } = await service.call('GET', path, { key: own.key });
  assert.equal(body.pagination.total, 3);
});

test('no key of another workspace is listed', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const foreign = await service.key({ workspaceId, userId: ownerId });
  const { key, apiKeyId } = await service.key();
  const ids = await listed({ key });
  assert.ok(ids.includes(apiKeyId) && !ids.includes(foreign.apiKeyId));
  assert.deepEqual(await listed({ key: foreign.key }), [foreign.apiKeyId]);
});

test('shows the last use of a key once it is recorded', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key({ agentIds: [agent.agentId], permissions: ['execute'] });
  const lastUsed = async () => {
    const { body } = await service.call('GET', path, { user: service.ownerId });
    return body.keys[0].lastUsedAt;
  };
  assert.equal(await lastUsed(), null);
  const second = await startService({ sharedWith: service });
  await run(second, agent, key);
  await second.close();
  assert.notEqual(await lastUsed(), null);
});

test('shows the usage of each key’s windows', async () => {
  const { workspaceId, ownerId: user } = await service.workspace();
  const agent = await addAgent({ ...service, workspaceId, ownerId: user });
  const rateLimits = { requestsPerMinute: null, requestsPerHour: 2, requestsPerDay: null };
  const { key, id } = await service.key({ workspaceId, userId: user, rateLimits });
  await freezeWindows(service.db, id);
  await run(service, agent, key);
  const { body } = await service.call('GET', path, { user });
  assert.deepEqual(body.keys[0].rateLimitUsage, [
    {
      ...{ scope: 'key', window: 'hour', limit: 2, used: 1, remaining: 1 },
      resetAt: frozenResetAt.hour,
    },
  ]);
});
