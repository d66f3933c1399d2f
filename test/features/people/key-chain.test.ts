import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { during } from '../../../harness/locks.ts';
import type { KeyOptions, TestKey } from '../../../harness/people.ts';
import { startService } from '../../../harness/service.ts';
import { freezeWindows, frozenResetAt } from '../../../harness/windows.ts';
import { fromId, toId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';

/** Keys that a key issues share its windows and end with it. */

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const user = service.ownerId;
const unlimited = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null };

interface Issued {
  readonly key: string;
  readonly apiKeyId: string;
  readonly parentApiKeyId: string | null;
}

async function issue(key: string, rateLimits: object, more: object = {}): Promise<Issued> {
  const permissions = ['execute', 'read', 'manage'];
  const body = { name: 'child', agentIds: null, permissions, rateLimits, ...more };
  const made = await service.call('POST', '/api/v1/keys', { key, body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body;
}

/** Its windows do not end during the test. */
async function root(options: KeyOptions = {}): Promise<TestKey> {
  const made = await service.key(options);
  await freezeWindows(service.db, made.id);
  return made;
}

const call = (key: string) =>
  service.call('POST', `${agent.path}/execute`, { key, body: { variables: { name: 'x' } } });
const execute = async (key: string) => (await call(key)).status;
const isValid = async (key: string) =>
  (await service.call('GET', '/api/v1/keys', { key })).status === 200;

test('twenty keys issued by a key share its two calls a minute, and the 429 names it', async () => {
  const rateLimits = { ...unlimited, requestsPerMinute: 2 };
  const parent = await root({ rateLimits });
  const children: Issued[] = [];
  for (let i = 0; i < 20; i++) children.push(await issue(parent.key, rateLimits));
  for (const { parentApiKeyId } of children) assert.equal(parentApiKeyId, parent.apiKeyId);
  const responses = await Promise.all(children.map(({ key }) => call(key)));
  const accepted = responses.filter(({ status }) => status === 202);
  assert.equal(accepted.length, 2);
  for (const { body } of responses.filter(({ status }) => status === 429)) {
    assert.deepEqual(body.rateLimits, rateLimits);
    assert.deepEqual(body.limitedBy, {
      ...{ scope: 'key', apiKeyId: parent.apiKeyId, window: 'minute', limit: 2 },
      resetAt: frozenResetAt.minute,
    });
  }
  assert.equal(await execute(parent.key), 429);
});

test('down the chain each key has its own limits too, and a refused call spends none', async () => {
  const parent = await root({ rateLimits: { ...unlimited, requestsPerDay: 3 } });
  const child = await issue(parent.key, { ...unlimited, requestsPerDay: 3 });
  const limits = { ...unlimited, requestsPerDay: 1 };
  const grandchild = await issue(child.key, limits);
  await freezeWindows(service.db, fromId('key', grandchild.apiKeyId) ?? '');
  assert.equal(await execute(grandchild.key), 202);
  const refused = await call(grandchild.key);
  assert.deepEqual(refused.body.rateLimits, limits);
  assert.equal(refused.body.limitedBy.apiKeyId, grandchild.apiKeyId);
  // One of three is spent: the refused call counted for nobody.
  assert.equal(refused.headers.get('ratelimit-policy'), '"key-day";q=1;w=86400');
  assert.deepEqual([await execute(child.key), await execute(parent.key)], [202, 202]);
  const full = await call(child.key);
  assert.equal(full.status, 429);
});

test('a workflow start with an issued key counts for the key that issued it', async () => {
  const step = { name: 'one', agentId: agent.agentId, variables: { name: 'x' } };
  const workflow = await service.call('POST', '/api/v1/workflows', {
    user,
    body: { name: 'W', definition: { steps: [step] } },
  });
  assert.equal(workflow.status, 201, JSON.stringify(workflow.body));
  const parent = await root({ rateLimits: { ...unlimited, requestsPerDay: 1 } });
  const child = await issue(parent.key, { ...unlimited, requestsPerDay: 1 });
  const start = () =>
    service.call('POST', `/api/v1/workflows/${workflow.body.workflowId}/execute`, {
      ...{ key: child.key, body: { input: {} } },
    });
  const started = await start();
  assert.equal(started.status, 202);
  assert.equal(started.body.stepsCounted, false);
  const refused = await start();
  assert.equal(refused.status, 429);
  assert.equal(refused.body.limitedBy.apiKeyId, parent.apiKeyId);
});

test('during a grace the old and the new key share their windows', async () => {
  const rateLimits = { ...unlimited, requestsPerDay: 2 };
  const old = await root({ rateLimits });
  const rotate = (key: string, apiKeyId: string) =>
    service.call('POST', `/api/v1/keys/${apiKeyId}/rotate`, { key, body: { graceSeconds: 3_600 } });
  const second = (await rotate(old.key, old.apiKeyId)).body;
  const third = (await rotate(second.key, second.apiKeyId)).body;
  assert.deepEqual([await execute(old.key), await execute(second.key)], [202, 202]);
  const refused = await call(third.key);
  assert.equal(refused.status, 429);
  assert.equal(refused.body.limitedBy.apiKeyId, third.apiKeyId);
});

test('revoking a key ends those that it issued, down the chain, at once', async () => {
  const parent = await service.key();
  const child = await issue(parent.key, {});
  const grandchild = await issue(child.key, {});
  const beside = await issue((await service.key()).key, {});
  const revoked = await service.call('POST', `/api/v1/keys/${parent.apiKeyId}/revoke`, { user });
  assert.equal(revoked.status, 200);
  for (const { key } of [child, grandchild]) {
    assert.deepEqual([await isValid(key), await execute(key)], [false, 401]);
  }
  assert.ok(await isValid(beside.key));
  const { body } = await service.call('GET', '/api/v1/keys?limit=100', { user });
  const shown = body.keys.find((one: Issued) => one.apiKeyId === grandchild.apiKeyId);
  assert.notEqual(shown.revokedAt, null);
});

test('revoking waits for executions with issued keys that are being admitted', async () => {
  const parent = await service.key();
  const child = await issue(parent.key, {});
  await during(
    service.db,
    (trx) => sql`select from limits where subject = ${parent.id} for update`.execute(trx),
    () => service.call('POST', `/api/v1/keys/${parent.apiKeyId}/revoke`, { user }),
  );
  assert.equal(await execute(child.key), 401);
});

test('rotating a key ends those that it issued, after the grace', async () => {
  for (const graceSeconds of [0, 3_600]) {
    const parent = await service.key();
    const child = await issue(parent.key, {});
    const path = `/api/v1/keys/${parent.apiKeyId}/rotate`;
    const { body } = await service.call('POST', path, { user, body: { graceSeconds } });
    assert.equal(await isValid(child.key), graceSeconds > 0);
    assert.ok(await isValid(body.key));
  }
});

test('a key cannot issue one that outlives it', async () => {
  const expiresAt = new Date('2090-01-01');
  const parent = await service.key({ expiresAt });
  const body = { name: 'longer', agentIds: null, permissions: ['read'] };
  const refused = await service.call('POST', '/api/v1/keys', { key: parent.key, body });
  assert.equal(refused.status, 403);
});

test('issued keys end when the user behind the key becomes a viewer or is removed', async () => {
  for (const end of ['PATCH', 'DELETE'] as const) {
    const userId = await service.member('editor');
    const parent = await service.key({ userId });
    const child = await issue(parent.key, {});
    const path = `/api/v1/members/${toId('user', userId)}`;
    const body = { role: 'viewer' };
    const changed = await service.call(end, path, { user, ...(end === 'PATCH' && { body }) });
    assert.equal(changed.status, end === 'PATCH' ? 200 : 204);
    const history = await service.call('GET', '/api/v1/executions', { key: child.key });
    assert.equal(history.status, 401, end);
  }
});

test('a key that another key rotates ends with it and counts for it', async () => {
  const robot = await root({ rateLimits: { ...unlimited, requestsPerDay: 1 } });
  const old = await service.key({ rateLimits: { ...unlimited, requestsPerDay: 1 } });
  const path = `/api/v1/keys/${old.apiKeyId}/rotate`;
  const { status, body } = await service.call('POST', path, { key: robot.key });
  assert.equal(status, 201);
  assert.equal(body.parentApiKeyId, robot.apiKeyId);
  assert.deepEqual([await execute(body.key), await execute(robot.key)], [202, 429]);
  await service.call('POST', `/api/v1/keys/${robot.apiKeyId}/revoke`, { user });
  assert.equal(await isValid(body.key), false);
});

test('a key that rotates itself stays a key of its issuer', async () => {
  const parent = await service.key();
  const child = await issue(parent.key, {});
  const path = `/api/v1/keys/${child.apiKeyId}/rotate`;
  const { body } = await service.call('POST', path, { key: child.key });
  assert.equal(body.parentApiKeyId, parent.apiKeyId);
  await service.call('POST', `/api/v1/keys/${parent.apiKeyId}/revoke`, { user });
  assert.equal(await isValid(body.key), false);
});

test('403 for a key that rotates one that issued it, and beyond ten keys in a row', async () => {
  const first = await service.key();
  let last: { key: string } = first;
  for (let i = 0; i < 10; i++) last = await issue(last.key, {});
  const path = `/api/v1/keys/${first.apiKeyId}/rotate`;
  const rotated = await service.call('POST', path, { key: last.key });
  assert.deepEqual([rotated.status, rotated.body.code], [403, 'PERMISSION_DENIED']);
  const body = { name: 'eleventh', agentIds: null, permissions: ['read'] };
  const refused = await service.call('POST', '/api/v1/keys', { key: last.key, body });
  assert.deepEqual([refused.status, refused.body.code], [403, 'PERMISSION_DENIED']);
  assert.match(refused.body.message, /at most 10 levels/);
  assert.equal(await execute(last.key), 202);
});
