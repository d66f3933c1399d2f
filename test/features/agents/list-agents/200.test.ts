import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { insertStatistics, tally } from '../../../../harness/statistics.ts';
import { fromId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/agents';
const { key } = await service.key();
const prompt = await makePrompt(service, { user: 'x' });
const tagged = { project: 'alpha', tags: ['red', 'blue'] };
const draft = await makeAgent(service, prompt, { agentName: 'Draft 100%', ...tagged });
const testing = await makeAgent(service, prompt, { agentName: 'testing_one', project: 'alpha' });
const deployed = await makeAgent(service, prompt, { agentName: 'Live', description: 'ÄRGER' });
const archived = await makeAgent(service, prompt, { agentName: 'Old', ...tagged });
const deleted = await makeAgent(service, prompt, { agentName: 'Gone', ...tagged });
await move(service, testing, 'enable-api');
await move(service, deployed, 'enable-api', 'deploy');
await move(service, archived, 'archive');
await move(service, deleted, 'enable-api');
await service.call('DELETE', deleted.path, { key });

type Named = { agentName: string };

async function names(query: string, caller: { key?: string; user?: string } = { key }) {
  const { status, body } = await service.call('GET', `${path}?${query}`, caller);
  assert.equal(status, 200);
  assert.equal(body.pagination.total, body.agents.length);
  return body.agents.map((agent: Named) => agent.agentName);
}

test('newest first, without archived and deleted agents', async () => {
  assert.deepEqual(await names(''), ['Live', 'testing_one', 'Draft 100%']);
  assert.deepEqual(await names('archived=false'), ['Live', 'testing_one', 'Draft 100%']);
});

test('with archived, only archived agents', async () => {
  assert.deepEqual(await names('archived=true'), ['Old']);
  assert.deepEqual(await names('archived=true&status=Testing'), []);
});

test('filters by stage, project and tag combine', async () => {
  assert.deepEqual(await names('status=Draft'), ['Draft 100%']);
  assert.deepEqual(await names('status=Testing'), ['testing_one']);
  assert.deepEqual(await names('status=Paused'), []);
  assert.deepEqual(await names('project=alpha'), ['testing_one', 'Draft 100%']);
  assert.deepEqual(await names('project=ALPHA'), []);
  assert.deepEqual(await names('tag=blue'), ['Draft 100%']);
  assert.deepEqual(await names('tag=blu'), []);
  assert.deepEqual(await names('project=alpha&status=Testing&q=one'), ['testing_one']);
  assert.deepEqual(await names('project=alpha&status=Testing&tag=red'), []);
});

test('finds a part of the name or description in any case, without patterns', async () => {
  assert.deepEqual(await names('q=LIVE'), ['Live']);
  assert.deepEqual(await names('q=%C3%A4rger'), ['Live']);
  assert.deepEqual(await names('q=%25'), ['Draft 100%']);
  assert.deepEqual(await names('q=_'), ['testing_one']);
  assert.deepEqual(await names('q=%5C'), []);
  assert.deepEqual(await names("q='%3B--"), []);
});

test('sorts by name, creation and last change', async () => {
  assert.deepEqual(await names('sort=name'), ['Draft 100%', 'Live', 'testing_one']);
  assert.deepEqual(await names('sort=-name'), ['testing_one', 'Live', 'Draft 100%']);
  assert.deepEqual(await names('sort=createdAt'), ['Draft 100%', 'testing_one', 'Live']);
  await service.call('PATCH', testing.path, { key, body: { category: 'latest' } });
  assert.equal((await names('sort=-updatedAt'))[0], 'testing_one');
  assert.equal((await names('sort=updatedAt')).at(-1), 'testing_one');
});

test('sorts by the executions, failures and cost of the last 24 hours', async () => {
  const [one, two, three] = [draft, testing, deployed].map(
    ({ agentId }) => fromId('agent', agentId) ?? '',
  );
  const nowMs = Date.now();
  const failed = { status: 'failed', errorCode: 'PROVIDER_ERROR' } as const;
  await insertStatistics(service.db, [
    ...[1, 2, 3].map(() => tally({ agentId: one ?? '', executedAtMs: nowMs, costUsd: '0.01' })),
    tally({ agentId: two ?? '', executedAtMs: nowMs, costUsd: '12.5' }),
    tally({ agentId: two ?? '', executedAtMs: nowMs, ...failed }),
    // Longer ago: not counted.
    tally({ agentId: three ?? '', executedAtMs: nowMs - 26 * 3_600_000, costUsd: '99', ...failed }),
  ]);
  assert.deepEqual(await names('sort=-costUSD'), ['testing_one', 'Draft 100%', 'Live']);
  assert.deepEqual(await names('sort=costUSD'), ['Live', 'Draft 100%', 'testing_one']);
  assert.deepEqual(await names('sort=-executions'), ['Draft 100%', 'testing_one', 'Live']);
  assert.deepEqual(await names('sort=executions'), ['Live', 'testing_one', 'Draft 100%']);
  assert.deepEqual(await names('sort=-failures'), ['testing_one', 'Live', 'Draft 100%']);
  assert.deepEqual(await names('sort=failures'), ['Draft 100%', 'Live', 'testing_one']);
});

test('filters by prompt, pinned version and model', async () => {
  const other = await makePrompt(
    service,
    { user: 'y', model: 'cueline/echo?tokens=1' },
    { user: 'z' },
  );
  const [first = '', second = ''] = other.versionIds;
  const agentConfig = { model: 'cueline/echo?tokens=2' };
  const pinned = await makeAgent(service, other, { agentName: 'First' });
  const own = await makeAgent(service, other, {
    ...{ agentName: 'Own model', promptVersionId: second, agentConfig },
  });
  assert.deepEqual(await names(`promptId=${other.promptId}&sort=name`), ['First', 'Own model']);
  assert.deepEqual(await names(`promptVersionId=${first}&sort=name`), ['First']);
  assert.deepEqual(await names(`promptVersionId=${second}`), ['Own model']);
  assert.deepEqual(await names('model=cueline/echo?tokens%3D1'), ['First']);
  assert.deepEqual(await names('model=cueline/echo?tokens%3D2'), ['Own model']);
  for (const { path } of [pinned, own]) {
    await service.call('POST', `${path}/lifecycle`, { key, body: { action: 'archive' } });
  }
});

test('pages with the total', async () => {
  const page = async (query: string) => {
    const { body } = await service.call('GET', `${path}?${query}`, { key });
    return [body.agents.map((agent: Named) => agent.agentName), body.pagination];
  };
  const first = { limit: 2, offset: 0, total: 3, hasMore: true };
  assert.deepEqual(await page('limit=2'), [['Live', 'testing_one'], first]);
  const second = { limit: 2, offset: 2, total: 3, hasMore: false };
  assert.deepEqual(await page('limit=2&offset=2'), [['Draft 100%'], second]);
  const beyond = { limit: 20, offset: 1_000_000_000, total: 3, hasMore: false };
  assert.deepEqual(await page('offset=1000000000'), [[], beyond]);
});

test('each agent equals the response of its own endpoint', async () => {
  const { agents } = (await service.call('GET', path, { key })).body;
  const alone = await service.call('GET', draft.path, { key });
  assert.deepEqual(agents.at(-1), alone.body);
});

test('private agents are listed for their creator and owners, public ones for all', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const editor = await service.member('editor', workspaceId);
  const viewer = await service.member('viewer', workspaceId);
  const of = { workspaceId, createdBy: editor };
  const { agentId: own } = await addAgent(service, { ...of, visibility: 'private' });
  const { agentId: shared } = await addAgent(service, of);
  const { agentId: owners } = await addAgent(service, {
    ...{ workspaceId, createdBy: ownerId, visibility: 'private' },
  });
  const seen = async (user: string, agentIds?: string[]) => {
    const caller = agentIds
      ? { key: (await service.key({ workspaceId, userId: user, agentIds })).key }
      : { user };
    const { body } = await service.call('GET', path, caller);
    assert.equal(body.pagination.total, body.agents.length);
    return body.agents.map((agent: { agentId: string }) => agent.agentId).sort();
  };
  assert.deepEqual(await seen(ownerId), [own, shared, owners].sort());
  assert.deepEqual(await seen(editor), [own, shared].sort());
  assert.deepEqual(await seen(viewer), [shared]);
  // A limited key sees those of its agents that its issuer can see.
  assert.deepEqual(await seen(ownerId, [own]), [own]);
  assert.deepEqual(await seen(editor, [own, owners]), [own]);
});
