import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt } from '../../../../harness/prompts.ts';
import { startReceiver, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import { addToolServer } from '../../../../harness/tool-server.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);
const { key } = await service.key();

test('a server is deleted once no agent pins a version with its tools', async () => {
  const { name: server, path } = await addToolServer(service, { url: receiver.url });
  const tools = [{ server, tool: 'refund', approval: 'never' }];
  const prompt = await makePrompt(service, { user: 'Hi', tools }, { user: 'Hi' });
  const agent = await makeAgent(service, prompt, { agentName: 'Refunder' });
  const remove = () => service.call('DELETE', path, { key });
  const refused = await remove();
  assert.deepEqual([refused.status, refused.body.code], [409, 'CONFLICT']);
  assert.match(refused.body.message, /"Refunder"/);
  const renamed = await service.call('PATCH', path, { key, body: { name: 'other' } });
  assert.match(renamed.body.message, /name cannot change/);
  const body = { promptVersionId: prompt.versionIds[1] };
  await service.call('PATCH', agent.path, { key, body });
  assert.equal((await remove()).status, 204);
  assert.equal((await remove()).status, 404);
  // The version keeps what it froze.
  const version = `${prompt.path}/versions/${prompt.versionIds[0]}`;
  const { body: read } = await service.call('GET', version, { key });
  assert.equal(read.tools[0].server, server);
});

test('a deleted agent pins nothing', async () => {
  const { name: server, path } = await addToolServer(service, { url: receiver.url });
  const tools = [{ server, tool: 'refund', safe: true }];
  const agent = await makeAgent(service, await makePrompt(service, { user: 'Hi', tools }));
  for (const action of ['enable-api']) {
    await service.call('POST', `${agent.path}/lifecycle`, { key, body: { action } });
  }
  assert.equal((await service.call('DELETE', agent.path, { key })).status, 204);
  assert.equal((await service.call('DELETE', path, { key })).status, 204);
});
