import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { conversationAgent, singleAgent } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';

/** Reading, canceling and deleting responses, their input, and who may do so. */

const service = await startService();
after(service.close);
const { models } = service;
const { key } = await service.key({ permissions: ['execute'] });
const { key: owner } = await service.key();
const one = await singleAgent(service, { agentName: 'One' });
await conversationAgent(service, { agentName: 'Many' });
const path = '/v1/responses';

async function create(body: object, by = key) {
  return (
    await service.call('POST', path, { key: by, body: { model: 'one', input: 'x', ...body } })
  ).body;
}
function read(id: string, by = key, below = '') {
  return service.call('GET', `${path}/${id}${below}`, { key: by });
}

test('a key with `execute` reads what it started; others need `read`', async () => {
  const created = await create({ metadata: { a: 'b' }, user: 'u' });
  const own = await read(created.id);
  assert.deepEqual([own.status, own.body.status, own.body.model], [200, 'completed', 'one']);
  assert.deepEqual(own.body.output, created.output);
  assert.deepEqual([own.body.background, own.body.prompt], [false, null]);
  assert.deepEqual([own.body.metadata, own.body.user], [{}, null]);
  const { body } = await read(created.id, owner);
  assert.deepEqual([body.metadata, body.user], [{ a: 'b' }, 'u']);
  const other = await service.key({ permissions: ['execute'] });
  const elsewhere = await service.workspace();
  const { workspaceId, ownerId: userId } = elsewhere;
  const stranger = await service.key({ workspaceId, userId });
  for (const by of [other, stranger]) {
    const hidden = await read(created.id, by.key);
    assert.deepEqual([hidden.status, hidden.body.error.code], [404, 'response_not_found']);
  }
  for (const id of ['resp_1', 'exe_1', created.id.replace('exe', 'agt')]) {
    assert.equal((await read(id)).status, 404);
  }
});

test('an execution that was started otherwise is a response too', async () => {
  const { body } = await service.call('POST', `${one.path}/execute`, {
    ...{ key, body: { variables: { question: 'Why?' } } },
  });
  await service.call('GET', `${body.statusUrl}?wait=20`, { key });
  assert.equal((await read(body.executionId)).body.output[0].content[0].text, 'Answer: Why?');
});

test('cancel ends a response in progress and returns one that has ended', async () => {
  const held = models.hold();
  const { id } = await create({ background: true });
  await held.arrived;
  const cancel = (by: string) => service.call('POST', `${path}/${id}/cancel`, { key: by });
  const other = await service.key({ permissions: ['execute'] });
  assert.equal((await cancel(other.key)).status, 404);
  const canceled = await cancel(key);
  assert.deepEqual([canceled.status, canceled.body.status], [200, 'cancelled']);
  assert.deepEqual((await cancel(key)).body, canceled.body);
  const canceler = await service.key({ permissions: ['cancel'] });
  assert.equal((await cancel(canceler.key)).status, 200);
});

test('delete takes `manage`, and 409 while in progress', async () => {
  const { id } = await create({});
  const remove = (of: string, by: string) => service.call('DELETE', `${path}/${of}`, { key: by });
  assert.equal((await remove(id, key)).status, 403);
  const removed = await remove(id, owner);
  assert.deepEqual(removed.body, { id, object: 'response', deleted: true });
  assert.equal((await read(id)).status, 404);
  const held = models.hold();
  const live = await create({ background: true });
  await held.arrived;
  const conflict = await remove(live.id, owner);
  assert.deepEqual([conflict.status, conflict.headers.get('x-should-retry')], [409, 'false']);
  held.release();
});

test('the input items are the conversation or the message; they take `read`', async () => {
  const input = [
    { role: 'user', content: 'a' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'o' },
    { role: 'assistant', content: 'b' },
  ];
  const { id } = await create({ model: 'many', input });
  const list = async (query: string) => (await read(id, owner, `/input_items${query}`)).body;
  const all = await list('?order=asc');
  assert.deepEqual(
    all.data.map((item: Record<string, unknown>) => item.type),
    ['message', 'function_call', 'function_call_output', 'message'],
  );
  assert.deepEqual(all.data[0].content, [{ type: 'input_text', text: 'a' }]);
  const first = await list('?limit=3');
  assert.deepEqual([first.has_more, first.data[0].content[0].text], [true, 'b']);
  const rest = await list(`?limit=3&after=${first.last_id}`);
  assert.deepEqual([rest.has_more, rest.data], [false, [all.data[0]]]);
  assert.equal((await read(id, owner, '/input_items?after=x')).status, 400);
  assert.equal((await read(id, key, '/input_items')).status, 403);
  const single = await create({});
  const items = (await read(single.id, owner, '/input_items')).body.data;
  assert.deepEqual(items[0].content, [{ type: 'input_text', text: 'x' }]);
});
