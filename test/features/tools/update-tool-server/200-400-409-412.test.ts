import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startReceiver, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import { addToolServer, invalidSchemas, refundTool } from '../../../../harness/tool-server.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);
const add = (fields: object = {}) => addToolServer(service, { url: receiver.url, ...fields });

test('fields change, others stay, and the tag changes with them', async () => {
  const { signingSecret: _, path, key, ...server } = await add();
  const change = (body: object, headers = {}) =>
    service.call('PATCH', path, { key, body, headers });
  const unchanged = await change({ name: server.name, tools: [refundTool] });
  assert.deepEqual([unchanged.body, unchanged.headers.get('etag')], [server, '"1"']);
  const lookup = { ...refundTool, name: 'lookup', description: 'Finds an order.' };
  const changed = await change({ timeoutMs: 5_000, enabled: false, tools: [lookup, refundTool] });
  assert.equal(changed.headers.get('etag'), '"2"');
  const { timeoutMs, enabled, maxConcurrency, tools } = changed.body;
  assert.deepEqual(
    { timeoutMs, enabled, maxConcurrency },
    { timeoutMs: 5_000, enabled: false, maxConcurrency: 20 },
  );
  assert.deepEqual(
    tools.map(({ name }: { name: string }) => name),
    ['lookup', 'refund'],
  );
  const stale = await change({ timeoutMs: 6_000 }, { 'if-match': '"1"' });
  assert.deepEqual([stale.status, stale.body.code], [412, 'STALE']);
  assert.equal((await change({ timeoutMs: 6_000 }, { 'if-match': '"2"' })).status, 200);
});

test('a name of another server is taken', async () => {
  const [one, other] = [await add(), await add()];
  const body = { name: other.name };
  assert.equal((await service.call('PATCH', one.path, { key: one.key, body })).status, 409);
});

test('stored headers are never sent to another origin', async () => {
  const { path, key } = await add({ headers: { 'X-Key': 's3cr3t-token' } });
  const change = (body: object) => service.call('PATCH', path, { key, body });
  const url = 'https://elsewhere.example.com/';
  const refused = await change({ url });
  assert.equal(refused.status, 400);
  assert.match(refused.body.message, /Send "headers" again/);
  assert.equal((await change({ url: `${receiver.url}/v2` })).status, 200);
  const moved = await change({ url, headers: { 'X-Other': 'new-token' } });
  assert.deepEqual([moved.body.url, moved.body.headerNames], [url, ['X-Other']]);
  assert.deepEqual((await change({ headers: {} })).body.headerNames, []);
});

test('paths must stay below the new URL', async () => {
  const { path, key } = await add({ tools: [{ ...refundTool, path: '/a%20b' }] });
  const refused = await service.call('PATCH', path, { key, body: { url: 'http://10.0.0.1/' } });
  assert.equal(refused.status, 400);
});

test('an invalid schema is refused with its place', async () => {
  const { path, key } = await add();
  for (const [inputSchema, place] of invalidSchemas) {
    const body = { tools: [{ ...refundTool, inputSchema }] };
    const refused = await service.call('PATCH', path, { key, body });
    assert.equal(refused.status, 400);
    assert.ok(refused.body.message.includes(`"tools.0.inputSchema"`), refused.body.message);
    assert.ok(refused.body.message.includes(` at ${place}: `), refused.body.message);
  }
});

test('an unknown server is 404, also for other workspaces', async () => {
  const { path } = await add();
  const { workspaceId, ownerId } = await service.workspace();
  const { key } = await service.key({ workspaceId, userId: ownerId });
  const body = { enabled: false };
  assert.equal((await service.call('PATCH', path, { key, body })).status, 404);
});
