import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { legacy, messagesIn, modern, modernRequest, post } from '../../../harness/mcp.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
await addAgent(service, { slug: 'greeter' });
const hello = { name: 'greeter', arguments: { name: 'Ada' } };

test('speaks the revision without a handshake', async () => {
  const { status, headers, body } = await modern(service, 'server/discover', {}, { key });
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'application/json');
  const { result } = body;
  assert.deepEqual(result.supportedVersions, ['2026-07-28']);
  assert.equal(result.resultType, 'complete');
  assert.deepEqual(result.capabilities, {
    tools: {},
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  });
  const called = await modern(service, 'tools/call', hello, { key });
  assert.equal(called.body.result.resultType, 'complete');
  assert.equal(called.body.result.content[0].text, 'Hello Ada');
});

test('rejects headers that do not match the body', async () => {
  const wrong: Record<string, string>[] = [
    { 'mcp-method': 'tools/list' },
    { 'mcp-name': 'other' },
    { 'mcp-protocol-version': '2025-11-25' },
  ];
  for (const headers of wrong) {
    const { status, body } = await modern(service, 'tools/call', hello, { key, headers });
    assert.equal(status, 400, JSON.stringify(headers));
    assert.equal(body.error.code, -32020);
  }
  const { message } = modernRequest('tools/call', hello);
  assert.equal((await post(service, message, { key })).status, 400);
});

test('names its revisions to a client with another one', async () => {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' };
  const headers = { 'mcp-protocol-version': '2030-01-01' };
  const { status, body } = await modern(service, 'tools/list', { _meta: meta }, { key, headers });
  assert.equal(status, 400);
  assert.equal(body.error.code, -32022);
  assert.deepEqual(body.error.data.supported, ['2026-07-28']);
});

test('does not know the methods of other servers', async () => {
  const { status, body } = await modern(service, 'resources/list', {}, { key });
  assert.equal(status, 404);
  assert.equal(body.error.code, -32601);
});

for (const revision of ['2025-11-25', '2025-06-18', '2025-03-26']) {
  test(`speaks ${revision} without a session`, async () => {
    const params = {
      ...{ protocolVersion: revision, capabilities: {} },
      clientInfo: { name: 'test', version: '1' },
    };
    const started = await legacy(service, 'initialize', params, { key });
    assert.equal(started.body.result.protocolVersion, revision);
    assert.deepEqual(started.body.result.capabilities, { tools: {} });
    assert.equal(started.headers.get('mcp-session-id'), null);
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    assert.equal((await post(service, notification, { key })).status, 202);
    const listed = await legacy(service, 'tools/list', {}, { key, revision });
    assert.deepEqual(
      listed.body.result.tools.map(({ name }: { name: string }) => name),
      ['greeter'],
    );
    const called = await legacy(service, 'tools/call', hello, { key, revision });
    assert.equal(called.body.result.content[0].text, 'Hello Ada');
    assert.equal(called.body.result.resultType, undefined);
  });
}

test('offers its newest revision with a handshake to a client with an unknown one', async () => {
  const params = {
    ...{ protocolVersion: '2024-11-05', capabilities: {} },
    clientInfo: { name: 'test', version: '1' },
  };
  const { body } = await legacy(service, 'initialize', params, { key });
  assert.equal(body.result.protocolVersion, '2025-11-25');
});

test('answers a batch of the revision that has batches', async () => {
  const call = (id: number, name: string) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name: 'greeter', arguments: { name } },
  });
  const headers = { 'mcp-protocol-version': '2025-03-26' };
  const response = await post(service, [call(1, 'Ada'), call(2, 'Bob')], { key, headers });
  const texts = [...response.notifications, response.body]
    .sort((one, other) => one.id - other.id)
    .map(({ result }) => result.content[0].text);
  assert.deepEqual(texts, ['Hello Ada', 'Hello Bob']);
});

test('answers malformed messages with errors of the protocol', async () => {
  const malformed = await post(service, '{"jsonrpc"', { key });
  assert.equal(malformed.status, 400);
  assert.equal(malformed.body.error.code, -32700);
  for (const body of [[], 'null', '1', { jsonrpc: '1.0', id: 1, method: 'tools/list' }]) {
    const { status } = await post(service, body, { key });
    assert.equal(status, 400, JSON.stringify(body));
  }
  const { body } = await legacy(service, 'tools/call', { name: 5 }, { key });
  assert.equal(body.error.code, -32602);
});

test('reports progress only to a client that asks for it', async () => {
  const silent = await modern(service, 'tools/call', hello, { key });
  assert.deepEqual(silent.notifications, []);
  assert.equal(silent.headers.get('content-type'), 'text/event-stream');
  assert.equal(silent.headers.get('x-accel-buffering'), 'no');
  assert.equal(silent.headers.get('cache-control'), 'no-store');
  const asked = { ...hello, _meta: { progressToken: 'p' } };
  for (const send of [modern, legacy]) {
    const { notifications } = await send(service, 'tools/call', asked, { key });
    const params = notifications.map((one) => one.params);
    assert.match(params[0].message, /^Accepted as exe_/);
    assert.equal(params.at(-1).message, 'Ended: success.');
    assert.ok(params.every(({ progressToken }) => progressToken === 'p'));
    params.forEach(({ progress }, index) => {
      assert.equal(progress, index + 1);
    });
  }
});

test('reports each piece of text as the model writes it', async () => {
  await addAgent(service, { slug: 'writer', config: { stream: true } });
  const first = Promise.withResolvers<void>();
  service.models.script(async (_call, emit) => {
    emit({ type: 'text', text: 'One ' });
    await first.promise;
    emit({ type: 'text', text: 'two' });
    return { text: '' };
  });
  const { message, headers } = modernRequest('tools/call', {
    ...{ name: 'writer', arguments: { name: 'Ada' } },
    _meta: { progressToken: 1 },
  });
  const response = await fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ ...headers, authorization: `Bearer ${key}` },
    },
    body: JSON.stringify(message),
  });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    // The model goes on once the client has its first words.
    if (text.includes('"One "')) first.resolve();
  }
  const messages = messagesIn(text) as { params?: { message: string }; result?: object }[];
  const shown = messages.flatMap(({ params }) => params?.message ?? []);
  const words = shown.filter((one) => !/^(Accepted|Started|Running|Ended)/.test(one));
  assert.equal(words.join(''), 'One two');
  assert.equal(shown.at(-1), 'Ended: success.');
  assert.match(JSON.stringify(messages.at(-1)?.result), /One two/);
});
