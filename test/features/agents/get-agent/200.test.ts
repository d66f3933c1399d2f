import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('an archived agent can be read, and its API is off', async () => {
  const agent = await makeAgent(service, await makePrompt(service, { user: 'x' }));
  await move(service, agent, 'enable-api', 'archive');
  const { key } = await service.key();
  const { body } = await service.call('GET', agent.path, { key });
  const { status, archived, apiEnabled, allowedActions } = body;
  assert.deepEqual(
    [status, archived, apiEnabled, allowedActions],
    ['Testing', true, false, ['restore']],
  );
});

test('a private agent for its creator, an owner and their keys; a public one for a viewer', async () => {
  const createdBy = await service.member('editor');
  const own = await addAgent(service, { createdBy, visibility: 'private' });
  const shared = await addAgent(service, { createdBy });
  const keyOf = async (userId: string) => (await service.key({ userId })).key;
  const status = async (path: string, caller: object) =>
    (await service.call('GET', path, caller)).status;
  assert.equal(await status(own.path, { user: createdBy }), 200);
  assert.equal(await status(own.path, { user: service.ownerId }), 200);
  assert.equal(await status(own.path, { key: await keyOf(createdBy) }), 200);
  assert.equal(await status(shared.path, { user: await service.member('viewer') }), 200);
  assert.equal(
    await status(shared.path, { key: await keyOf(await service.member('editor')) }),
    200,
  );
});

test('CORS allows its origins to read the response', async () => {
  const origin = 'https://app.example.com';
  const agent = await addAgent(service, { allowedOrigins: [origin] });
  const { key } = await service.key();
  const read = async (from: string) =>
    (await service.call('GET', agent.path, { key, headers: { origin: from } })).headers;
  assert.equal((await read(origin)).get('access-control-allow-origin'), origin);
  assert.equal((await read('https://other.example')).get('access-control-allow-origin'), null);
});

test('CORS allows its origins to read errors', async () => {
  const origin = 'https://app.example.com';
  const agent = await addAgent(service, { allowedOrigins: [origin] });
  const { key } = await service.key();
  const weak = await service.key({ permissions: ['execute'] });
  const headers = { origin };
  const refused: [string, string, object, number][] = [
    ['GET', agent.path, { key: weak.key }, 403],
    ['GET', `${agent.path}/executions?status=bogus`, { key }, 400],
    ['GET', `${agent.path}/executions/exe_x`, { key }, 404],
    ['PATCH', agent.path, { key, body: { nonsense: 1 } }, 400],
    ['DELETE', agent.path, { key }, 409],
  ];
  for (const [method, path, options, status] of refused) {
    const response = await service.call(method, path, { ...options, headers });
    assert.equal(response.status, status);
    assert.equal(response.headers.get('access-control-allow-origin'), origin, `${method} ${path}`);
  }
});
