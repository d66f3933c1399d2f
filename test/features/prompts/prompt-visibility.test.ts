import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';

/** A private prompt is visible to its creator and to owners; the version that an agent pins, to all who see the agent. */

const service = await startService();
after(service.close);
const model = 'cueline/echo';
const [author, colleague, viewer] = [
  await service.member('editor'),
  await service.member('editor'),
  await service.member('viewer'),
];

interface Made {
  readonly path: string;
  readonly promptId: string;
  readonly promptVersionId: string;
}

async function prompt(options: object = {}, user = author): Promise<Made> {
  const { body } = await service.call('POST', '/api/v1/prompts', {
    user,
    body: { name: 'P', ...options },
  });
  const path = `/api/v1/prompts/${body.promptId}`;
  return { path, promptId: body.promptId, promptVersionId: await version(path, user) };
}

async function version(path: string, user = author): Promise<string> {
  const body = { user: 'Secret text', model };
  const made = await service.call('POST', `${path}/versions`, { user, body });
  assert.equal(made.status, 201);
  return made.body.promptVersionId;
}

async function agentOf({ promptId, promptVersionId }: Made, user = author): Promise<string> {
  const body = { agentName: 'A', promptId, promptVersionId, visibility: 'public' };
  const made = await service.call('POST', '/api/v1/agents', { user, body });
  assert.equal(made.status, 201);
  return `/api/v1/agents/${made.body.agentId}`;
}

const get = async (path: string, user: string) =>
  (await service.call('GET', path, { user })).status;

async function listed(user: string): Promise<string[]> {
  const { body } = await service.call('GET', '/api/v1/prompts?limit=100', { user });
  return body.prompts.map((one: { promptId: string }) => one.promptId);
}

test('a new prompt is private unless specified', async () => {
  const make = async (options: object) => {
    const body = { name: 'P', ...options };
    return (await service.call('POST', '/api/v1/prompts', { user: author, body })).body.visibility;
  };
  assert.equal(await make({}), 'private');
  assert.equal(await make({ visibility: 'public' }), 'public');
  const body = { name: 'P', visibility: 'secret' };
  assert.equal((await service.call('POST', '/api/v1/prompts', { user: author, body })).status, 400);
});

test('a private prompt exists for its creator and owners only', async () => {
  const { path, promptId, promptVersionId } = await prompt();
  const versions = `${path}/versions`;
  for (const user of [author, service.ownerId]) {
    for (const at of [path, versions, `${versions}/${promptVersionId}`]) {
      assert.equal(await get(at, user), 200);
    }
    assert.ok((await listed(user)).includes(promptId));
  }
  for (const user of [colleague, viewer]) {
    for (const at of [path, versions, `${versions}/${promptVersionId}`]) {
      assert.equal(await get(at, user), 404);
    }
    assert.ok(!(await listed(user)).includes(promptId));
  }
  const { key } = await service.key({ userId: colleague });
  assert.equal((await service.call('GET', path, { key })).status, 404);
  const changes: [string, string, object?][] = [
    ['PATCH', path, { name: 'Mine' }],
    ['POST', `${path}/archive`],
    ['POST', versions, { user: 'x', model }],
    ['POST', '/api/v1/agents', { agentName: 'A', promptId, promptVersionId }],
  ];
  for (const [method, at, body] of changes) {
    const options = { user: colleague, ...(body && { body }) };
    assert.equal((await service.call(method, at, options)).status, 404, at);
  }
});

test('its visibility can be changed', async () => {
  const { path } = await prompt();
  const set = (visibility: string) =>
    service.call('PATCH', path, { user: author, body: { visibility } });
  assert.equal((await set('public')).body.visibility, 'public');
  assert.deepEqual([await get(path, colleague), await get(path, viewer)], [200, 200]);
  assert.equal((await set('private')).body.visibility, 'private');
  assert.deepEqual([await get(path, colleague), await get(path, viewer)], [404, 404]);
});

test('those who see an agent see the version that it pins, and no other', async () => {
  const made = await prompt();
  const agent = await agentOf(made);
  const later = await version(made.path);
  const at = (id: string) => `${made.path}/versions/${id}`;
  const statuses = async (user: string) => [
    await get(at(made.promptVersionId), user),
    await get(at(later), user),
    await get(made.path, user),
  ];
  assert.deepEqual(await statuses(colleague), [200, 404, 404]);
  assert.deepEqual(await statuses(viewer), [200, 404, 404]);
  const { body } = await service.call('GET', at(made.promptVersionId), { user: viewer });
  assert.equal(body.user, 'Secret text');
  const pin = { promptVersionId: later };
  // Pinning an unseen version would reveal it.
  const denied = await service.call('PATCH', agent, { user: colleague, body: pin });
  assert.equal(denied.status, 404);
  assert.equal((await service.call('PATCH', agent, { user: author, body: pin })).status, 200);
  assert.deepEqual(await statuses(colleague), [404, 200, 404]);
  const hidden = { visibility: 'private' };
  await service.call('PATCH', agent, { user: author, body: hidden });
  assert.deepEqual(await statuses(colleague), [404, 404, 404]);
});

test('other settings of a visible agent can be changed without seeing its prompt', async () => {
  const agent = await agentOf(await prompt());
  const body = { description: 'Described.' };
  assert.equal((await service.call('PATCH', agent, { user: colleague, body })).status, 200);
});

test('a key restricted to an agent sees its prompt only if the issuer does', async () => {
  const made = await prompt();
  const agent = await agentOf(made);
  const agentIds = [agent.split('/').at(-1) ?? ''];
  const path = `${made.path}/versions/${made.promptVersionId}`;
  for (const [userId, expected] of [
    [author, 200],
    [colleague, 404],
  ] as const) {
    const { key } = await service.key({ userId, agentIds });
    assert.equal((await service.call('GET', made.path, { key })).status, expected);
    assert.equal((await service.call('GET', path, { key })).status, 200);
  }
});

test('declarations set the visibility, and omit agents whose prompt is private', async () => {
  const apply = (prompts: object[]) =>
    service.call('POST', '/api/v1/declaration', {
      user: author,
      body: { declaration: { prompts } },
    });
  const versions = [{ label: 'v1', user: 'Hi', model }];
  const created = await apply([{ name: 'Declared', versions }]);
  assert.equal(created.status, 200);
  const open = await apply([{ name: 'Declared', versions, visibility: 'public' }]);
  assert.deepEqual(open.body.changes, [
    {
      kind: 'prompt',
      name: 'Declared',
      action: 'change',
      field: 'visibility',
      from: 'private',
      to: 'public',
    },
  ]);
  assert.deepEqual((await apply([{ name: 'Declared', versions }])).body.changes, []);
  const own = await service.call('GET', '/api/v1/declaration', { user: author });
  const declared = own.body.declaration.prompts.find(
    (one: { name: string }) => one.name === 'Declared',
  );
  assert.equal(declared.visibility, 'public');

  const body = { name: 'Hidden', visibility: 'private' };
  const { promptId } = (await service.call('POST', '/api/v1/prompts', { user: author, body })).body;
  const path = `/api/v1/prompts/${promptId}`;
  const made = { path, promptId, promptVersionId: await version(path) };
  await agentOf(made);
  const theirs = await service.call('GET', '/api/v1/declaration', { user: colleague });
  assert.equal(theirs.status, 200);
  assert.ok(!JSON.stringify(theirs.body.declaration).includes('Hidden'));
});
