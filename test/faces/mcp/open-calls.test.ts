import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { modern, modernRequest, openCall, withTasks } from '../../../harness/mcp.ts';
import { startService } from '../../../harness/service.ts';
import { Shares } from '../../../src/core/shares.ts';
import { OpenCalls } from '../../../src/faces/mcp/open-calls.ts';

const client = { workspaceId: 'w', keyId: 'a', address: '127.0.0.1', userAgent: 'test' };
const callsOf = (publish: (names: readonly string[]) => void = () => {}) =>
  new OpenCalls(publish, new Shares({ resource: 'toolCalls', max: 10 }));

test('all keys of a workspace share its calls, and another workspace has room', () => {
  const calls = callsOf();
  const open = Array.from({ length: 9 }, (_, id) => calls.acquire(client, id));
  assert.throws(() => calls.acquire({ ...client, keyId: 'b' }, 'more'), { code: 'UNAVAILABLE' });
  calls.acquire({ ...client, workspaceId: 'x' }, 'other');
  open[0]?.release();
  calls.acquire({ ...client, keyId: 'b' }, 'more');
});

test('asks the other processes only for a call that it does not have', () => {
  const published: string[] = [];
  const here = callsOf((names) => published.push(...names));
  const there = callsOf();
  const [own, foreign] = [here.acquire(client, 1), there.acquire(client, 2)];
  here.cancel(client, 1);
  assert.equal(own?.canceled.aborted, true);
  assert.deepEqual(published, []);
  here.cancel(client, 2);
  there.cancelLocal(published);
  assert.equal(foreign?.canceled.aborted, true);
  assert.match(published[0] ?? '', /^[0-9a-f]{32}$/);
});

test('tells the ids 1 and "1" apart', () => {
  const calls = callsOf();
  const [number, text] = [calls.acquire(client, 1), calls.acquire(client, '1')];
  calls.cancel(client, '1');
  assert.equal(number?.canceled.aborted, false);
  assert.equal(text?.canceled.aborted, true);
});

test('a call above the limit is a result that says when to try again; a task waits for nothing', async (t) => {
  const service = await startService({ shareLimits: { toolCalls: 3 } });
  t.after(service.close);
  const { key } = await service.key();
  const { key: second } = await service.key();
  const stranger = await service.workspace();
  const { key: other } = await service.key({ ...stranger, userId: stranger.ownerId });
  await addAgent(service, { slug: 'greeter' });
  await addAgent(service, { ...stranger, createdBy: stranger.ownerId, slug: 'greeter' });
  const params = { name: 'greeter', arguments: { name: 'Ada' } };
  const held = [service.models.hold(), service.models.hold()];
  const open = held.map((_, id) => {
    const progress = { ...params, _meta: { progressToken: id } };
    const { message, headers } = modernRequest('tools/call', progress, { id });
    return openCall(service, message, { ...headers, authorization: `Bearer ${key}` });
  });
  await Promise.all(open.map(({ accepted }) => accepted));
  await Promise.all(held.map(({ arrived }) => arrived));
  const called = service.models.calls.length;
  const call = async (by: string, options = {}) =>
    (await modern(service, 'tools/call', params, { key: by, ...options })).body.result;

  const refused = await call(second);
  assert.equal(refused.isError, true);
  assert.match(refused.content[0].text, /its share of the open calls of tools .* 2 of 3\b/);
  assert.deepEqual(refused._meta.share, { resource: 'toolCalls', scope: 'workspace', limit: 2 });
  assert.equal(service.models.calls.length, called, 'nothing was started');
  assert.equal((await call(other)).content[0].text, 'Hello Ada');
  assert.equal((await call(key, withTasks)).resultType, 'task');

  held[0]?.release();
  while ((await call(key)).isError);
  held[1]?.release();
});
