import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const path = '/api/v1/endpoints';
const valid = { url: 'https://shop.example/events', eventTypes: ['key.revoked'] };

async function refused(body: object, headers = { key }) {
  const { status, body: problem } = await service.call('POST', path, { ...headers, body });
  return [status, problem.message];
}

test('a URL that is private or no https URL is rejected', async () => {
  const urls = ['http://shop.example/events', 'https://10.1.2.3/events'];
  for (const url of urls) {
    const [status, message] = await refused({ ...valid, url });
    assert.equal(status, 400, url);
    assert.match(String(message), /"url"/);
  }
});

test('agents that do not exist are not found', async () => {
  const { status } = await service.call('POST', path, {
    key,
    body: { ...valid, agentIds: ['agt_01jd0000000000000000000000'] },
  });
  assert.equal(status, 404);
});

test('a key without the permission read gets no full data', async () => {
  const own = await service.key({ permissions: ['own'] });
  const body = { ...valid, payload: 'full' };
  assert.equal((await refused(body, { key: own.key }))[0], 403);
  const created = await service.call('POST', path, { body: valid, key: own.key });
  assert.equal(created.status, 201);
  const url = `${path}/${created.body.endpointId}`;
  const changed = await service.call('PATCH', url, { key: own.key, body: { payload: 'full' } });
  assert.equal(changed.status, 403);
});

test('a key without the permission read sends the full data of another endpoint to no other address', async () => {
  const own = await service.key({ permissions: ['own'] });
  const { body: created } = await service.call('POST', path, {
    ...{ key, body: { ...valid, payload: 'full' } },
  });
  const url = `${path}/${created.endpointId}`;
  const change = (body: object) => service.call('PATCH', url, { key: own.key, body });
  assert.equal((await change({ url: 'https://other.example/' })).status, 403);
  assert.equal((await change({ url: 'https://other.example/', payload: 'thin' })).status, 200);
  assert.equal((await change({ description: 'Thin now' })).status, 200);
});

test('a workspace has at most twenty endpoints', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const other = await service.key({ workspaceId, userId });
  for (let n = 0; n < 20; n++) {
    const { status } = await service.call('POST', path, { key: other.key, body: valid });
    assert.equal(status, 201);
  }
  assert.deepEqual(await refused(valid, { key: other.key }), [
    409,
    'A workspace has at most 20 endpoints.',
  ]);
});
