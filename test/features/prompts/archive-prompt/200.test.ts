import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('an archived prompt rejects new versions and agents; its agents keep working', async () => {
  const prompt = await makePrompt(service, { user: 'Hi {{name}}' });
  const agent = await makeAgent(service, prompt);
  await move(service, agent, 'enable-api');
  const { key } = await service.key();
  const archived = await service.call('POST', `${prompt.path}/archive`, { key });
  assert.deepEqual([archived.status, archived.body.archived], [200, true]);

  const version = { key, body: { user: 'x' } };
  assert.equal((await service.call('POST', `${prompt.path}/versions`, version)).status, 409);
  const [promptVersionId] = prompt.versionIds;
  const another = { agentName: 'B', promptId: prompt.promptId, promptVersionId };
  assert.equal((await service.call('POST', '/api/v1/agents', { key, body: another })).status, 409);
  const call = { key, body: { variables: { name: 'you' } } };
  assert.equal((await service.call('POST', `${agent.path}/execute`, call)).status, 202);
  const repin = { key, body: { promptVersionId } };
  assert.equal((await service.call('PATCH', agent.path, repin)).status, 200);
});

test('the operation is idempotent', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  const first = await service.call('POST', `${path}/archive`, { key });
  const second = await service.call('POST', `${path}/archive`, { key });
  assert.deepEqual(second.body, first.body);
  assert.deepEqual([first.headers.get('etag'), second.headers.get('etag')], ['"2"', '"2"']);
});

test('a concurrent agent is either created before the archiving or rejected', async () => {
  const { key } = await service.key();
  for (let round = 0; round < 5; round++) {
    const prompt = await makePrompt(service, { user: 'x' });
    const body = {
      agentName: 'A',
      promptId: prompt.promptId,
      promptVersionId: prompt.versionIds[0],
    };
    const [made] = await Promise.all([
      service.call('POST', '/api/v1/agents', { key, body }),
      service.call('POST', `${prompt.path}/archive`, { key }),
    ]);
    assert.ok(made.status === 201 || made.body.code === 'CONFLICT', String(made.status));
    assert.equal((await service.call('POST', '/api/v1/agents', { key, body })).status, 409);
  }
});
