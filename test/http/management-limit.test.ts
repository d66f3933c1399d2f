import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { startService } from '../../harness/service.ts';

/** Each key and each user has its own limit of management calls. */

const limit = 5;
const service = await startService({ config: { managePerMinute: limit } });
after(service.close);
const agent = await addAgent(service);

/** The statuses of calls until the first 429, which a new minute may delay once. */
async function exhaust(caller: object, path = '/api/v1/agents') {
  for (let i = 1; i <= 2 * limit + 1; i++) {
    const response = await service.call('GET', path, caller);
    if (response.status === 429) return { response, admitted: i - 1 };
    assert.equal(response.status, 200);
  }
  throw new Error('no call was refused');
}

test('429 above the limit, with retryAfter and the rate limit headers', async () => {
  const { key } = await service.key();
  const { response, admitted } = await exhaust({ key });
  assert.ok(admitted >= limit);
  assert.equal(response.body.code, 'RATE_LIMIT_EXCEEDED');
  const { retryAfter } = response.body;
  assert.ok(Number.isInteger(retryAfter) && retryAfter >= 1 && retryAfter <= 60);
  assert.equal(response.headers.get('retry-after'), String(retryAfter));
  assert.equal(response.headers.get('ratelimit-policy'), `"management-minute";q=${limit};w=60`);
  assert.equal(Number(response.headers.get('x-ratelimit-reset')) % 60, 0);
});

test('other callers have their own limit; keys that a key issues do not', async () => {
  const parent = await service.key();
  const body = { name: 'child', agentIds: null, permissions: ['manage', 'read'] };
  const { body: child } = await service.call('POST', '/api/v1/keys', { key: parent.key, body });
  const statusOf = async (caller: object) =>
    (await service.call('GET', '/api/v1/prompts', caller)).status;
  // A new minute may begin between the two, but not in each round.
  const ofParent: number[] = [];
  for (let round = 0; round < 3; round++) {
    await exhaust({ key: child.key });
    ofParent.push(await statusOf({ key: parent.key }));
  }
  assert.ok(ofParent.includes(429));
  assert.equal(await statusOf({ key: (await service.key()).key }), 200);
  assert.equal(await statusOf({ user: service.ownerId }), 200);
});

test('execute, status, cancel, lists and exports do not count', async () => {
  const { key } = await service.key({ rateLimits: { requestsPerMinute: null } });
  const body = { variables: { name: 'x' } };
  for (let i = 0; i < 2 * limit + 1; i++) {
    const accepted = await service.call('POST', `${agent.path}/execute`, { key, body });
    assert.equal(accepted.status, 202);
    const { statusUrl } = accepted.body;
    assert.equal((await service.call('GET', `${statusUrl}?wait=0`, { key })).status, 200);
    const canceled = await service.call('POST', `${statusUrl}/cancel`, { key });
    assert.ok([200, 409].includes(canceled.status));
    const list = await service.call('GET', `${agent.path}/executions`, { key });
    assert.equal(list.status, 200);
  }
  assert.equal((await service.call('GET', '/api/v1/agents', { key })).status, 200);
});
