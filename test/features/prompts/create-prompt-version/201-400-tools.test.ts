import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { makePrompt } from '../../../../harness/prompts.ts';
import { startReceiver, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import { addToolServer, refundTool } from '../../../../harness/tool-server.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);
const { key } = await service.key();
const add = (fields: object = {}) => addToolServer(service, { url: receiver.url, ...fields });
const { path } = await makePrompt(service);
const post = (body: object, as = key) =>
  service.call('POST', `${path}/versions`, { key: as, body: { user: 'Hi', ...body } });

test('a version copies the definitions of its tools', async () => {
  const server = await add({ timeoutMs: 5_000 });
  const tool = { server: server.name, tool: 'refund', approval: 'never' };
  const created = await post({ tools: [tool] });
  assert.equal(created.status, 201);
  const [{ digest }] = server.tools;
  const frozen = {
    ...{ server: server.name, ...refundTool, tool: 'refund', digest },
    ...{ approval: 'never', safe: false, bind: {}, resultLimit: 16_384, timeoutMs: 5_000 },
  };
  assert.deepEqual(created.body.tools, [frozen]);
  await service.call('PATCH', server.path, { key, body: { timeoutMs: 6_000, tools: [] } });
  const { body } = await service.call('GET', `${path}/versions/${created.body.promptVersionId}`, {
    key,
  });
  assert.deepEqual(body.tools, [frozen]);
});

test('a version may name and describe a tool itself, bind properties and limit results', async () => {
  const { name: server } = await add();
  const own = { name: 'pay_back', description: 'Only if asked.', resultLimit: 1_024 };
  const bind = { orderId: 'metadata.order' };
  const { body } = await post({ tools: [{ server, tool: 'refund', safe: true, bind, ...own }] });
  const [{ name, description, isDescribed, resultLimit, approval, safe, ...rest }] = body.tools;
  assert.deepEqual({ name, description, resultLimit }, own);
  assert.deepEqual(
    { isDescribed, approval, safe },
    { isDescribed: true, approval: 'never', safe: true },
  );
  assert.deepEqual([rest.bind, rest.inputSchema], [bind, refundTool.inputSchema]);
});

test('another version has the same content with the definitions of now', async () => {
  const { name: server, path: serverPath } = await add();
  const described = { server, tool: 'refund', name: 'own', description: 'Own.', safe: true };
  const tools = [{ server, tool: 'refund', approval: 'never', bind: { cents: 'user' } }, described];
  const { body: first } = await post({
    tools,
    temperature: 1,
    notes: 'First.',
    label: `of-${server}`,
  });
  const changed = { ...refundTool, description: 'Pays back, today.' };
  await service.call('PATCH', serverPath, { key, body: { tools: [changed] } });
  const refresh = (body: object) => service.call('POST', `${path}/versions`, { key, body });
  for (const from of [first.promptVersionLabel, first.promptVersionId]) {
    const { status, body } = await refresh({ from, refreshTools: true });
    assert.equal(status, 201);
    assert.deepEqual([body.user, body.temperature, body.notes], ['Hi', 1, 'First.']);
    const [plain, own] = body.tools;
    assert.equal(plain.description, 'Pays back, today.');
    assert.notEqual(plain.digest, first.tools[0].digest);
    assert.deepEqual([plain.bind, own.name, own.description], [{ cents: 'user' }, 'own', 'Own.']);
  }
  const refused: [object, RegExp][] = [
    [{ from: 'none', refreshTools: true }, /no such version/],
    [{ from: first.promptVersionLabel }, /belong together/],
    [{ refreshTools: true }, /belong together/],
    [{ from: first.promptVersionLabel, refreshTools: true, user: 'Other' }, /Field "user"/],
  ];
  for (const [body, message] of refused) {
    assert.match((await refresh(body)).body.message, message);
  }
  await service.call('PATCH', serverPath, { key, body: { tools: [] } });
  const gone = await refresh({ from: first.promptVersionLabel, refreshTools: true });
  assert.match(gone.body.message, /has no tool "refund"/);
  const plain = await post({});
  const without = await refresh({ from: plain.body.promptVersionLabel, refreshTools: true });
  assert.match(without.body.message, /has no tools that Cueline executes/);
});

describe('400 names what is wrong', async () => {
  const { name: server } = await add();
  const ref = { server, tool: 'refund' };
  const never = { ...ref, approval: 'never' };
  const cases: [string, object[], RegExp][] = [
    [
      'no approval',
      [ref],
      /tools.0.approval.*approvals do not exist yet. Set "approval" to "never"/,
    ],
    ['an approval', [{ ...ref, approval: 'always' }], /tools.0.approval/],
    ['of a safe tool', [{ ...ref, safe: true, approval: 'always' }], /tools.0.approval/],
    ['a condition', [{ ...ref, approval: { when: 'true' } }], /tools.0.approval/],
    ['an unknown server', [{ ...never, server: 'nothing' }], /no tool server "nothing"/],
    ['an unknown tool', [{ ...never, tool: 'nothing' }], /has no tool "nothing"/],
    ['tools of both kinds', [never, { name: 'other' }], /only one of the two/],
    ['one name twice', [never, { ...never, safe: true }], /"refund" twice/],
    ['an unknown property', [{ ...never, bind: { other: 'user' } }], /no property "other"/],
    ['an unknown value', [{ ...never, bind: { orderId: 'tags' } }], /tools.0/],
    ['a small limit', [{ ...never, resultLimit: 16 }], /tools.0/],
    ['a large limit', [{ ...never, resultLimit: 65_537 }], /tools.0/],
    ['an unknown field', [{ ...never, expiresInSeconds: 5 }], /tools.0/],
  ];
  for (const [what, tools, message] of cases) {
    test(what, async () => {
      const { status, body } = await post({ tools });
      assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
      assert.match(body.message, message);
    });
  }

  test('a choice of another tool', async () => {
    const { body } = await post({ tools: [never], toolChoice: { tool: 'other' } });
    assert.match(body.message, /toolChoice/);
    assert.equal((await post({ tools: [never], toolChoice: { tool: 'refund' } })).status, 201);
  });
});

test('a key that is restricted to agents adds no tools', async () => {
  const { name: server } = await add();
  const prompt = await makePrompt(service, { user: 'Hi' });
  const { body: agent } = await service.call('POST', '/api/v1/agents', {
    key,
    body: { agentName: 'A', promptId: prompt.promptId, promptVersionId: prompt.versionIds[0] },
  });
  const tied = await service.key({ agentIds: [agent.agentId], permissions: ['manage'] });
  const body = { user: 'Hi', tools: [{ server, tool: 'refund', approval: 'never' }] };
  const refused = await service.call('POST', `${prompt.path}/versions`, { key: tied.key, body });
  assert.deepEqual([refused.status, refused.body.code], [403, 'PERMISSION_DENIED']);
});

test('a server of another workspace is unknown', async () => {
  const { name: server } = await add();
  const { workspaceId, ownerId } = await service.workspace();
  const { key: elsewhere } = await service.key({ workspaceId, userId: ownerId });
  const { body: prompt } = await service.call('POST', '/api/v1/prompts', {
    key: elsewhere,
    body: { name: 'P' },
  });
  const refused = await service.call('POST', `/api/v1/prompts/${prompt.promptId}/versions`, {
    key: elsewhere,
    body: { user: 'Hi', tools: [{ server, tool: 'refund', approval: 'never' }] },
  });
  assert.match(refused.body.message, /no tool server/);
});
