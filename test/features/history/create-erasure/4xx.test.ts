import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { call } = service;
const user = await service.member('owner');
const path = '/api/v1/erasures';
const erasure = { variable: 'customer', value: 'c1' };

test('400 without a value', async () => {
  const body = { variable: 'customer' };
  assert.equal((await call('POST', path, { user, body })).status, 400);
});

test('404 for an unknown agent', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const theirs = await addAgent({ ...service, workspaceId, ownerId });
  for (const agentId of ['agt_nonsense', theirs.agentId]) {
    const body = { ...erasure, agentId };
    assert.equal((await call('POST', path, { user, body })).status, 404);
  }
});

test('409 while a hundred erasures are in progress', async () => {
  const { ownerId } = await service.workspace();
  const responses: { readonly status: number }[] = [];
  // No more at once than a slow machine serves before waiting clients time out.
  for (let i = 0; i < 17; i++) {
    const six = Array.from({ length: 6 }, () =>
      call('POST', path, { user: ownerId, body: erasure }),
    );
    responses.push(...(await Promise.all(six)));
  }
  const count = (status: number) => responses.filter((one) => one.status === status).length;
  assert.deepEqual([count(202), count(409)], [100, 2]);
  const list = await call('GET', `${path}?limit=3&offset=99`, { user: ownerId });
  assert.equal(list.body.erasures.length, 1);
  assert.equal(list.body.pagination.total, 100);
});
