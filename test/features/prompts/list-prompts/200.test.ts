import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { makeAgent, makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/prompts';

async function owner(): Promise<{ key: string; names: (query: string) => Promise<string[]> }> {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const { key } = await service.key({ workspaceId, userId });
  const names = async (query: string) => {
    const { body } = await service.call('GET', `${path}?${query}`, { key });
    return body.prompts.map((prompt: { name: string }) => prompt.name);
  };
  return { key, names };
}

test('newest first, in pages with the total', async () => {
  const { key } = await owner();
  for (const name of ['one', 'two', 'three']) {
    await service.call('POST', path, { key, body: { name } });
  }
  const page = async (query: string) => {
    const { body } = await service.call('GET', `${path}${query}`, { key });
    return [body.prompts.map((prompt: { name: string }) => prompt.name), body.pagination];
  };
  const all = { limit: 20, offset: 0, total: 3, hasMore: false };
  assert.deepEqual(await page(''), [['three', 'two', 'one'], all]);
  const first = { limit: 2, offset: 0, total: 3, hasMore: true };
  assert.deepEqual(await page('?limit=2'), [['three', 'two'], first]);
  const second = { limit: 2, offset: 2, total: 3, hasMore: false };
  assert.deepEqual(await page('?limit=2&offset=2'), [['one'], second]);
  const beyond = { limit: 100, offset: 3, total: 3, hasMore: false };
  assert.deepEqual(await page('?limit=100&offset=3'), [[], beyond]);
});

test('shows the number of versions, and the latest one without its texts', async () => {
  const prompt = await makePrompt(service, { user: 'a' }, { user: 'b {{x}}', label: 'second' });
  const { key } = await service.key();
  const { body } = await service.call('GET', path, { key });
  const { versionCount, latestVersion } = body.prompts[0];
  assert.equal(versionCount, 2);
  assert.equal(latestVersion.promptVersionId, prompt.versionIds[1]);
  assert.deepEqual(latestVersion.variables, ['x']);
  assert.equal('user' in latestVersion, false);
});

test('finds a part of the name or description in any case, without patterns', async () => {
  const { key, names } = await owner();
  for (const [name, description] of [
    ['100% sure', null],
    ['snake_case', 'Ärger'],
    ['other', 'back\\slash'],
  ]) {
    await service.call('POST', path, { key, body: { name, description } });
  }
  assert.deepEqual(await names('q=SNAKE'), ['snake_case']);
  assert.deepEqual(await names('q=%C3%A4RG'), ['snake_case']);
  assert.deepEqual(await names('q=%25'), ['100% sure']);
  assert.deepEqual(await names('q=_'), ['snake_case']);
  assert.deepEqual(await names('q=%5C'), ['other']);
  assert.deepEqual(await names('q=nothing'), []);
  assert.deepEqual(await names('q='), ['other', 'snake_case', '100% sure']);
});

test('archived prompts only with archived', async () => {
  const { key, names } = await owner();
  await service.call('POST', path, { key, body: { name: 'kept' } });
  const { body } = await service.call('POST', path, { key, body: { name: 'gone' } });
  await service.call('POST', `${path}/${body.promptId}/archive`, { key });
  assert.deepEqual(await names(''), ['kept']);
  assert.deepEqual(await names('archived=false'), ['kept']);
  assert.deepEqual(await names('archived=true'), ['gone']);
});

test('a limited key sees the prompts of its agents, if its issuer can see them', async () => {
  const mine = await makePrompt(service, { user: 'x' });
  const agent = await makeAgent(service, mine);
  const hidden = await addAgent(service, { visibility: 'private' });
  const agentIds = [agent.agentId, hidden.agentId];
  const ids = async (key: string) => {
    const { body } = await service.call('GET', path, { key });
    assert.equal(body.pagination.total, body.prompts.length);
    return body.prompts.map((prompt: { promptId: string }) => prompt.promptId);
  };
  const tied = await service.key({ agentIds: [agent.agentId] });
  assert.deepEqual(await ids(tied.key), [mine.promptId]);
  const editor = await service.key({ agentIds, userId: await service.member('editor') });
  assert.deepEqual(await ids(editor.key), []);
});

test('accessible to a viewer', async () => {
  const user = await service.member('viewer');
  assert.equal((await service.call('GET', path, { user })).status, 200);
});
