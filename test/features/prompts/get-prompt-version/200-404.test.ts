import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('with its texts, for a viewer and for a key of an agent of the prompt', async () => {
  const prompt = await makePrompt(service, { user: 'one' }, { system: 'two', user: '2' });
  const { agentId } = await makeAgent(service, prompt);
  const path = `${prompt.path}/versions/${prompt.versionIds[1]}`;
  const user = await service.member('viewer');
  const tied = await service.key({ agentIds: [agentId], permissions: ['manage'] });
  for (const caller of [{ user }, { key: tied.key }]) {
    const { status, body } = await service.call('GET', path, caller);
    assert.deepEqual([status, body.system, body.user, body.number], [200, 'two', '2', 2]);
  }
});

test('404 for a version of another prompt, and for a malformed id', async () => {
  const prompt = await makePrompt(service, { user: 'x' });
  const other = await makePrompt(service, { user: 'x' });
  const { key } = await service.key();
  for (const id of [other.versionIds[0], prompt.promptId, 'ver_nonsense', 'v1', '%00']) {
    const { status, body } = await service.call('GET', `${prompt.path}/versions/${id}`, { key });
    assert.deepEqual([status, body.code], [404, 'NOT_FOUND']);
  }
});
