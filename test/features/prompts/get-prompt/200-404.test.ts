import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('a new version is shown at once and changes the ETag', async () => {
  const prompt = await makePrompt(service);
  const { key } = await service.key();
  const before = await service.call('GET', prompt.path, { key });
  const body = { user: 'Hi {{name}}', label: 'first' };
  const version = await service.call('POST', `${prompt.path}/versions`, { key, body });
  const read = await service.call('GET', prompt.path, { key });
  assert.notEqual(read.headers.get('etag'), before.headers.get('etag'));
  assert.equal(read.body.versionCount, 1);
  const summary = Object.entries(version.body).filter(([name]) => name in read.body.latestVersion);
  assert.deepEqual(read.body.latestVersion, Object.fromEntries(summary));
  assert.equal('user' in read.body.latestVersion, false);
});

test('an archived prompt can be read, also by a viewer', async () => {
  const prompt = await makePrompt(service, { user: 'x' });
  const { key } = await service.key();
  await service.call('POST', `${prompt.path}/archive`, { key });
  const user = await service.member('viewer');
  const { status, body } = await service.call('GET', prompt.path, { user });
  assert.deepEqual([status, body.archived], [200, true]);
});

test('a key that is limited to an agent reads its prompt', async () => {
  const prompt = await makePrompt(service, { user: 'x' });
  const { agentId } = await makeAgent(service, prompt);
  const { key } = await service.key({ agentIds: [agentId], permissions: ['manage'] });
  assert.equal((await service.call('GET', prompt.path, { key })).status, 200);
});

test('404 for a key that is restricted to agents of other prompts, or to a deleted agent of this one', async () => {
  const [prompt, other] = [
    await makePrompt(service, { user: 'x' }),
    await makePrompt(service, { user: 'x' }),
  ];
  const agent = await makeAgent(service, prompt);
  const { key } = await service.key({ agentIds: [agent.agentId] });
  assert.equal((await service.call('GET', other.path, { key })).status, 404);
  await move(service, agent, 'enable-api');
  await service.call('DELETE', agent.path, { key });
  assert.equal((await service.call('GET', prompt.path, { key })).status, 404);
});
