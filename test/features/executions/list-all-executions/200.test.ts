import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/executions';
const editorId = await service.member('editor');
const { key } = await service.key();
const [open, hidden, other] = [
  await addAgent(service),
  await addAgent(service, { visibility: 'private' }),
  await addAgent(service, { visibility: 'private', createdBy: editorId }),
];
const ids: string[] = [];
for (const agent of [open, hidden, other, open]) {
  ids.push((await run(service, agent, key, { name: 'x' })).executionId);
}
const [a, b, c, d] = ids;

async function listed(query: string, as: string) {
  const { status, body } = await service.call('GET', `${path}?${query}`, { key: as });
  assert.equal(status, 200);
  return {
    ids: body.executions.map((one: { executionId: string }) => one.executionId),
    pagination: body.pagination,
    nextCursor: body.nextCursor,
  };
}

test('lists the executions of all agents in pages, newest first', async () => {
  const first = await listed('limit=3', key);
  assert.deepEqual(first.ids, [d, c, b]);
  assert.deepEqual(first.pagination, { limit: 3, offset: 0, total: 4, hasMore: true });
  assert.deepEqual((await listed(`limit=3&cursor=${first.nextCursor}`, key)).ids, [a]);
  assert.deepEqual((await listed('limit=2&offset=1&status=success', key)).ids, [c, b]);
});

test('lists only agents that the caller can see', async () => {
  const editors = await service.key({ userId: editorId });
  assert.deepEqual((await listed('', editors.key)).ids, [d, c, a]);
  const tied = await service.key({ agentIds: [hidden.agentId] });
  assert.deepEqual((await listed('', tied.key)).ids, [b]);
  const elsewhere = await service.workspace();
  const stranger = await service.key({ ...elsewhere, userId: elsewhere.ownerId });
  assert.deepEqual((await listed('', stranger.key)).ids, []);
});

test('empty without a visible agent', async () => {
  const viewerId = await service.member('viewer');
  const deleted = await addAgent(service, { stage: 'Paused' });
  const tied = await service.key({ agentIds: [deleted.agentId] });
  await service.call('DELETE', deleted.path, { key });
  assert.deepEqual(await listed('', tied.key), {
    ids: [],
    pagination: { limit: 20, offset: 0, total: 0, hasMore: false },
    nextCursor: undefined,
  });
  const viewers = await service.key({ userId: viewerId });
  assert.deepEqual((await listed('', viewers.key)).ids, [d, a]);
});
