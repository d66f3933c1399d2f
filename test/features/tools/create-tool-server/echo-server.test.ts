import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { sealKey, startService } from '../../../../harness/service.ts';
import { echoOf } from '../../../../harness/tool-agents.ts';
import { addToolServer } from '../../../../harness/tool-server.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';
import { readCalledTool } from '../../../../src/engine/tools/called-tools.ts';
import { createToolSender } from '../../../../src/features/tools/verbs/tool-sender.ts';
import { createModels } from '../../../../src/models/registry.ts';

/** The built-in tool server: its calls answer with their arguments, and nothing leaves the process. */

const models = createModels({
  open: () => assert.fail('no provider is configured'),
  ...{ env: {}, allowedHosts: [] },
});
after(() => models.close());
const service = await startService({ config: { allowedHosts: [] }, models });
after(service.close);
const { key } = await service.key();
const url = 'cueline:echo';

test('an agent calls it, in a service that may reach no private address', async () => {
  const { name, path } = await addToolServer(service, { url, headers: { 'X-Key': 's3cr3t' } });
  const checked = await service.call('POST', `${path}/check`, { key });
  assert.deepEqual([checked.status, checked.body.problem], [200, null]);
  const given = { orderId: 'o-1', cents: 250 };
  const prompt = await makePrompt(service, {
    ...{ user: 'Pay it back.', model: echoOf([['refund', given]]) },
    tools: [{ server: name, tool: 'refund', approval: 'never' }],
  });
  const agent = await makeAgent(service, prompt, { visibility: 'public' });
  await move(service, agent, 'enable-api', 'deploy');
  const { body: accepted } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: {} } },
  });
  const execution = `${agent.path}/executions/${accepted.executionId}`;
  const { body: record } = await service.call('GET', `${execution}?wait=60`, { key });
  assert.deepEqual([record.status, record.turns, record.toolCallsMade], ['success', 2, 1]);
  const { body } = await service.call('GET', `${execution}/steps`, { key });
  const [call] = body.steps.filter(({ kind }: { kind: string }) => kind === 'tool');
  assert.deepEqual([call.state, call.sent, JSON.parse(call.result)], ['done', 1, given]);
});

test('its calls reach no client for requests, are tried like others, and have the bounds of others', async () => {
  const { toolServerId, path } = await addToolServer(service, { url });
  const tried = await service.call('POST', `${path}/tools/refund/try`, {
    ...{ key, body: { arguments: { orderId: 'o-1' } } },
  });
  assert.deepEqual([tried.body.outcome, tried.body.result], ['done', '{"orderId":"o-1"}']);
  const sender = createToolSender({
    ...{ sealKey, version: '1', hideSecrets: (text) => text },
    post: () => assert.fail('a request was sent'),
  });
  const called = await readCalledTool(service.db, {
    ...{ server: fromId('toolServer', toolServerId) ?? '', tool: 'refund' },
    workspaceId: service.workspaceId,
  });
  const send = (argumentsJson: string) =>
    sender.call({
      ...{ toolCallId: 'tcl_00000000000000000000000000', executionId: null, tool: 'refund' },
      ...{ called, argumentsJson, timeoutMs: 60_000, resultLimit: 1_024 },
      signal: new AbortController().signal,
    });
  const cut = await send(JSON.stringify({ orderId: 'x'.repeat(2_000) }));
  assert.ok(cut.kind === 'done' && !cut.isError && Buffer.byteLength(cut.result) <= 1_024);
  const long = await send(JSON.stringify({ orderId: 'x'.repeat(1_048_576) }));
  assert.ok(long.kind === 'done' && long.isError);
});

test('nothing of it is signed, so there is no secret until it is needed', async () => {
  const { path, ...created } = await addToolServer(service, { url });
  assert.ok(!('signingSecret' in created));
  const patched = await service.call('PATCH', path, { key, body: { url: 'https://a.example/' } });
  const { body: read } = await service.call('GET', path, { key });
  for (const shown of [patched.body, read]) assert.ok(!('signingSecret' in shown));
  const { body: rotated } = await service.call('POST', `${path}/rotate`, { key });
  assert.match(rotated.signingSecret, /^whsec_/);
});

test('a server with headers moves to it without them, and from it with them alone', async () => {
  const { path } = await addToolServer(service, {
    ...{ url: 'https://crm.example.com/', headers: { 'X-Key': 's3cr3t' } },
  });
  const change = (body: object) => service.call('PATCH', path, { key, body });
  const moved = await change({ url });
  assert.deepEqual([moved.status, moved.body.headerNames], [200, ['X-Key']]);
  const next = { url: 'https://other.example.com/' };
  assert.match((await change(next)).body.message, /Send "headers" again/);
  assert.equal((await change({ ...next, headers: { 'X-Key': 's3cr3t' } })).status, 200);
});

test('the audit log names it, and a server that leaves it needs an allowed address', async () => {
  const { path } = await addToolServer(service, { url });
  const { rows } = await sql<{ host: string }>`
    select details ->> 'host' as host from audit where action = 'toolServer.create'
    order by id desc limit 1`.execute(service.db);
  assert.equal(rows[0]?.host, url);
  const moved = (to: string) => service.call('PATCH', path, { key, body: { url: to } });
  assert.equal((await moved('https://10.0.0.1/')).status, 400);
  assert.equal((await moved('https://crm.example.com/')).status, 200);
  assert.equal((await moved(url)).status, 200);
});

test('a path that no later server could have is refused', async () => {
  const declared = (path: string) => ({
    ...{ name: `with-path-${path.length}`, kind: 'http', url },
    tools: [{ name: 'lookup', description: '', inputSchema: { type: 'object' }, path }],
  });
  const create = (path: string) =>
    service.call('POST', '/api/v1/tool-servers', { key, body: declared(path) });
  const refused = await create('/../admin');
  assert.deepEqual([refused.status, /"tools.0.path"/.test(refused.body.message)], [400, true]);
  const created = await create('/orders');
  assert.equal(created.body.tools[0].path, '/orders');
});

describe('no other text is a URL in the process', () => {
  const others = ['cueline:', 'cueline:other', 'cueline://echo', 'CUELINE:echo', ' cueline:echo'];
  const longer = ['cueline:echo/', 'cueline:echo?a=1', 'cueline:echo\n', 'file:///etc/passwd'];
  for (const other of [...others, ...longer]) {
    test(JSON.stringify(other), async () => {
      const body = { name: 'other', kind: 'http', url: other };
      const refused = await service.call('POST', '/api/v1/tool-servers', { key, body });
      assert.deepEqual([refused.status, /"url"/.test(refused.body.message)], [400, true]);
    });
  }
});
