import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { call } = service;
const path = '/api/v1/retention';

test('400 for an invalid number of days', async () => {
  const user = await service.member('owner');
  for (const body of [
    {},
    { recordsDays: 90 },
    { recordsDays: 0, bodiesDays: null },
    { recordsDays: 36_501, bodiesDays: null },
    { recordsDays: 1.5, bodiesDays: null },
    { recordsDays: '90', bodiesDays: null },
    { recordsDays: 90, bodiesDays: -1 },
    { recordsDays: 90, bodiesDays: null, more: 1 },
  ]) {
    assert.equal((await call('PUT', path, { user, body })).status, 400, JSON.stringify(body));
  }
  const { body } = await call('GET', path, { user });
  assert.deepEqual(body, { recordsDays: 90, bodiesDays: null });
});

test('403 for a member who is not an owner, and for a key that is restricted to agents', async () => {
  const body = { recordsDays: 1, bodiesDays: 1 };
  for (const role of ['viewer', 'editor'] as const) {
    const user = await service.member(role);
    assert.equal((await call('PUT', path, { user, body })).status, 403);
    assert.equal((await call('GET', path, { user })).status, 200);
  }
  const { key } = await service.key({ agentIds: [] });
  assert.equal((await call('PUT', path, { key, body })).status, 403);
  assert.equal((await call('PUT', path, { body })).status, 401);
});
