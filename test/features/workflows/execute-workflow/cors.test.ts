import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';

/** Browsers start and read workflow runs from the origins of keys for all agents of the pinned version. */

const service = await startService();
after(service.close);
const user = service.ownerId;
const [agent, second] = [await addAgent(service), await addAgent(service)];
const { path } = await makeWorkflow(service, greeting(agent.agentId));
const definition = greeting(agent.agentId);
const [step] = definition.steps;
const both = await makeWorkflow(service, {
  ...definition,
  steps: [step, { ...step, name: 'second', agentId: second.agentId }],
});
const origin = 'https://app.example.com';
const input = { name: 'you' };

async function keyOf(agentIds: readonly string[] | null) {
  const body = { name: 'web', agentIds, permissions: ['execute'], allowedOrigins: [origin] };
  return (await service.call('POST', '/api/v1/keys', { user, body })).body;
}

async function preflight(to: string, from = origin) {
  const headers = { origin: from, 'access-control-request-method': 'POST' };
  const { status, headers: answered } = await fetch(service.url + to, {
    method: 'OPTIONS',
    headers,
  });
  assert.equal(status, 204);
  return answered;
}

const originIn = (headers: Headers) => headers.get('access-control-allow-origin');

test('a page may start a workflow run and read it', async () => {
  const { key, apiKeyId } = await keyOf([agent.agentId]);
  const requested = await preflight(`${path}/execute`);
  assert.equal(originIn(requested), origin);
  assert.match(
    requested.get('access-control-allow-headers') ?? '',
    /Authorization.*Idempotency-Key/,
  );
  const headers = { origin };
  const started = await service.call('POST', `${path}/execute`, { key, headers, body: { input } });
  assert.deepEqual([started.status, originIn(started.headers)], [202, origin]);
  const { statusUrl } = started.body;
  assert.equal(originIn(await preflight(statusUrl)), origin);
  const read = await service.call('GET', `${statusUrl}?wait=30`, { key, headers });
  assert.deepEqual([read.status, originIn(read.headers)], [200, origin]);
  const { key: other } = await service.key();
  const elsewhere = { key: other, headers, body: { input } };
  const denied = await service.call('POST', `${path}/execute`, elsewhere);
  assert.equal(originIn(denied.headers), null);
  // Otherwise a cache could serve the response for one origin to another.
  for (const { headers: answered } of [read, denied]) assert.equal(answered.get('vary'), 'Origin');
  const refused = await service.call('POST', `${path}/execute`, { headers, body: { input } });
  assert.deepEqual([refused.status, originIn(refused.headers)], [401, origin]);

  await service.call('POST', `/api/v1/keys/${apiKeyId}/revoke`, { user });
  assert.equal(originIn(await preflight(`${path}/execute`)), null);
});

test('origins match exactly, and only keys for all agents of the workflow count', async () => {
  await keyOf([agent.agentId]);
  assert.equal(originIn(await preflight(path)), origin);
  assert.equal(originIn(await preflight(path, 'https://evil-app.example.com')), null);
  assert.equal(originIn(await preflight(`${both.path}/execute`)), null);
  assert.equal(originIn(await preflight('/api/v1/workflows/nothing/execute')), null);
  await keyOf([agent.agentId, second.agentId]);
  assert.equal(originIn(await preflight(`${both.path}/execute`)), origin);
});

test('the origins of an agent do not apply to its workflows', async () => {
  const own = 'https://own.example.com';
  const body = { allowedOrigins: [own] };
  await service.call('PATCH', agent.path, { user, body });
  assert.equal(originIn(await preflight(`${agent.path}/execute`, own)), own);
  assert.equal(originIn(await preflight(`${path}/execute`, own)), null);
});

test('OPTIONS returns 404 for an unknown path, and 405 without preflight headers', async () => {
  const requested = { origin, 'access-control-request-method': 'POST' };
  const response = async (to: string, headers: Record<string, string>) =>
    (await fetch(service.url + to, { method: 'OPTIONS', headers })).status;
  for (const base of [agent.path, path]) {
    assert.equal(await response(`${base}/nope`, requested), 404);
    assert.equal(await response(`${base}/execute/`, requested), 404);
    assert.equal(await response(`${base}/execute`, {}), 405);
    assert.equal(await response(`${base}/execute`, requested), 204);
  }
});

test('a preflight allows the headers that libraries add to each call', async () => {
  await keyOf([agent.agentId]);
  for (const to of [`${path}/execute`, `${agent.path}/execute`]) {
    const allowed = (await preflight(to)).get('access-control-allow-headers') ?? '';
    const names = allowed.toLowerCase().split(', ');
    for (const name of ['authorization', 'traceparent', 'x-requested-with']) {
      assert.ok(names.includes(name), name);
    }
  }
});

test('a page can read why another method or an unknown path is refused', async () => {
  await keyOf([agent.agentId]);
  const refusals: [method: string, path: string, status: number][] = [
    ['GET', `${agent.path}/execute`, 405],
    ['DELETE', `${path}/execute`, 405],
    ['PUT', `${agent.path.replace('/v1', '')}/execute`, 405],
    ['GET', `${agent.path}/nothing`, 404],
  ];
  for (const [method, url, status] of refusals) {
    for (const [from, readable] of [
      [origin, origin],
      ['https://evil.example.com', null],
    ] as const) {
      const response = await fetch(service.url + url, { method, headers: { origin: from } });
      assert.deepEqual([response.status, originIn(response.headers)], [status, readable]);
    }
  }
});
