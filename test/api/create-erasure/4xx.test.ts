import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { call } = service;
const user = await service.member('owner');
const path = '/api/v1/erasures';
const erasure = { variable: 'customer', value: 'c1' };

test('400 for a value that no record can contain', async () => {
  for (const body of [
    {},
    { variable: 'customer' },
    { ...erasure, variable: '' },
    { ...erasure, value: 42 },
    { ...erasure, value: 'a\0b' },
    { ...erasure, variable: 'a\ud800' },
    { ...erasure, value: 'x'.repeat(10_001) },
    { ...erasure, more: true },
  ]) {
    assert.equal((await call('POST', path, { user, body })).status, 400, JSON.stringify(body));
  }
  assert.equal((await call('GET', path, { user })).body.pagination.total, 0);
});

test('403 for a member who is not an owner, and for a key that is restricted to agents', async () => {
  const { agentId } = await addAgent(service);
  const editor = await service.member('editor');
  const { key } = await service.key({ agentIds: [agentId] });
  for (const who of [{ user: editor }, { key }]) {
    assert.equal((await call('POST', path, { ...who, body: erasure })).status, 403);
    assert.equal((await call('GET', path, who)).status, 403);
    assert.equal((await call('GET', `${path}/era_nonsense`, who)).status, 403);
    assert.equal((await call('GET', '/api/v1/audit', who)).status, 403);
  }
});

test('404 for an unknown agent or erasure', async () => {
  const elsewhere = await service.workspace();
  const theirs = await addAgent({
    db: service.db,
    workspaceId: elsewhere.workspaceId,
    ownerId: elsewhere.ownerId,
  });
  for (const agentId of ['agt_nonsense', theirs.agentId]) {
    const body = { ...erasure, agentId };
    assert.equal((await call('POST', path, { user, body })).status, 404);
  }
  assert.equal((await call('GET', `${path}/era_nonsense`, { user })).status, 404);
  const { body } = await call('POST', path, { user, body: erasure });
  const at = `${path}/${body.erasureId}`;
  assert.equal((await call('GET', at, { user })).status, 200);
  assert.equal((await call('GET', at, { user: elsewhere.ownerId })).status, 404);
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
