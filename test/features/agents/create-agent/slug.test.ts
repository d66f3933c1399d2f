import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { type CreatedAgent, makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const prompt = await makePrompt(service, { user: 'Hi {{name}}' });

async function read(path: string) {
  return (await service.call('GET', path, { key })).body;
}

async function slugOf(input: object): Promise<string> {
  return (await read((await makeAgent(service, prompt, input as never)).path)).slug;
}

function patch({ path }: Pick<CreatedAgent, 'path'>, body: object) {
  return service.call('PATCH', path, { key, body });
}

test('the slug follows from the name, with the first free suffix', async () => {
  const names = [
    'Straße nach Köln',
    'Support',
    'support!',
    'SUPPORT',
    'x'.repeat(70),
    'x'.repeat(70),
  ];
  const slugs: string[] = [];
  for (const agentName of names) slugs.push(await slugOf({ agentName }));
  assert.deepEqual(slugs, [
    ...['stra-e-nach-koln', 'support', 'support-2', 'support-3'],
    ...['x'.repeat(64), `${'x'.repeat(62)}-2`],
  ]);
  assert.match(await slugOf({ agentName: '日本語' }), /^agent-[a-z0-9]{8}$/);
});

test('creating at the same time gives each its own slug', async () => {
  const slugs = await Promise.all(Array.from({ length: 8 }, () => slugOf({ agentName: 'Same' })));
  assert.deepEqual(slugs.toSorted(), ['same', ...[2, 3, 4, 5, 6, 7, 8].map((n) => `same-${n}`)]);
});

test('a given slug is kept, also when the name changes', async () => {
  const agent = await makeAgent(service, prompt, { slug: 'my_agent-1' });
  assert.equal((await patch(agent, { agentName: 'Other' })).body.slug, 'my_agent-1');
  const changed = await patch(agent, { slug: 'yours' });
  assert.deepEqual([changed.status, changed.body.slug], [200, 'yours']);
  const etag = changed.headers.get('etag');
  assert.equal((await patch(agent, { slug: 'yours' })).headers.get('etag'), etag);
  assert.equal(await slugOf({ slug: 'my_agent-1' }), 'my_agent-1');
});

test('agents and workflows share one namespace: 409 for a taken slug', async () => {
  const agent = await makeAgent(service, prompt, { slug: 'taken' });
  await move(service, agent, 'enable-api', 'deploy');
  const workflow = await makeWorkflow(service, greeting(agent.agentId), { name: 'Flow' });
  assert.equal((await read(workflow.path)).slug, 'flow');
  assert.equal(await slugOf({ agentName: 'Flow' }), 'flow-2');
  const second = await makeWorkflow(service, greeting(agent.agentId), { name: 'taken' });
  assert.equal((await read(second.path)).slug, 'taken-2');

  const { promptId, versionIds } = prompt;
  const input = { agentName: 'A', promptId, promptVersionId: versionIds[0] };
  const definition = greeting(agent.agentId);
  for (const [method, path, body] of [
    ['POST', '/api/v1/agents', { ...input, slug: 'flow' }],
    ['PATCH', agent.path, { slug: 'flow' }],
    ['POST', '/api/v1/workflows', { name: 'New', slug: 'taken', definition }],
    ['PATCH', workflow.path, { slug: 'taken' }],
  ] as const) {
    const { status, body: answer } = await service.call(method, path, { key, body });
    assert.deepEqual([status, answer.code], [409, 'CONFLICT'], path);
    assert.match(answer.message, /^The slug "(flow|taken)" is taken/);
  }
  assert.equal((await read(agent.path)).slug, 'taken');
  const renamed = await service.call('PATCH', workflow.path, { key, body: { slug: 'other' } });
  assert.equal(renamed.body.slug, 'other');
});

test('other workspaces have their own slugs', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const there = await service.key({ workspaceId, userId });
  const elsewhere = { ...service, key: async () => there };
  const other = await makePrompt(elsewhere, { user: 'Hi' });
  await makeAgent(service, prompt, { slug: 'both' });
  const agent = await makeAgent(elsewhere, other, { slug: 'both' });
  const { body } = await service.call('GET', agent.path, { key: there.key });
  assert.equal(body.slug, 'both');
});

test('deleting frees a slug, archiving does not', async () => {
  const agent = await makeAgent(service, prompt, { slug: 'gone' });
  await move(service, agent, 'enable-api', 'archive');
  assert.equal(await slugOf({ agentName: 'gone' }), 'gone-2');
  assert.equal((await service.call('DELETE', agent.path, { key })).status, 204);
  assert.equal(await slugOf({ agentName: 'gone' }), 'gone');

  const open = await makeAgent(service, prompt);
  await move(service, open, 'enable-api', 'deploy');
  const workflow = await makeWorkflow(service, greeting(open.agentId), { slug: 'flow-gone' });
  assert.equal((await service.call('DELETE', workflow.path, { key })).status, 204);
  assert.equal(await slugOf({ slug: 'flow-gone' }), 'flow-gone');
});

test('400 for a text that is no slug', async () => {
  const agent = await makeAgent(service, prompt);
  for (const slug of ['', 'A', 'a b', 'x'.repeat(65), null, 1, agent.agentId]) {
    const { status, body } = await patch(agent, { slug });
    assert.equal(status, 400);
    assert.match(body.message, /"slug"/);
  }
});

test('allowInstructions and allowTools are off unless set', async () => {
  const agent = await makeAgent(service, prompt, { allowTools: true });
  const { allowInstructions, allowTools } = await read(agent.path);
  assert.deepEqual([allowInstructions, allowTools], [false, true]);
  const { body } = await patch(agent, { allowInstructions: true, allowTools: false });
  assert.deepEqual([body.allowInstructions, body.allowTools], [true, false]);
  assert.deepEqual(await read(agent.path), body);
});
