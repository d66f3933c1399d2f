import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('the models are the agents that the key can call, by slug', async () => {
  const b = await addAgent(service, { slug: 'b' });
  const a = await addAgent(service, { slug: 'a', visibility: 'private' });
  await addAgent(service, { slug: 'draft', stage: 'Draft' });
  await addAgent(service, { slug: 'off', apiEnabled: false });
  const { key } = await service.key({ permissions: ['execute'] });
  const list = async (by: string) => {
    const { body } = await service.call('GET', '/v1/models', { key: by });
    assert.equal(body.object, 'list');
    return body.data.map(({ id }: { id: string }) => id);
  };
  assert.deepEqual(await list(key), ['a', 'b']);
  const editor = await service.key({ userId: await service.member('editor') });
  assert.deepEqual(await list(editor.key), ['b']);
  const tied = await service.key({ agentIds: [a.agentId] });
  assert.deepEqual(await list(tied.key), ['a']);

  for (const model of ['b', b.agentId]) {
    const { status, body } = await service.call('GET', `/v1/models/${model}`, { key });
    const { created, ...rest } = body;
    assert.ok(Number.isInteger(created));
    assert.deepEqual([status, rest], [200, { id: model, object: 'model', owned_by: 'cueline' }]);
  }
  for (const [model, by] of [
    ['draft', key],
    ['nothing', key],
    ['a', editor.key],
    ['b', tied.key],
  ] as const) {
    const { status, body } = await service.call('GET', `/v1/models/${model}`, { key: by });
    assert.deepEqual([status, body.error.code], [404, 'model_not_found']);
  }
});
