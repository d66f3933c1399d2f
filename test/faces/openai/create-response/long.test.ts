import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { conversationAgent, deployed, singleAgent } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';
import { inlineCharsMax } from '../../../../src/core/compute.ts';
import { readCall } from '../../../../src/faces/openai/read-call.ts';

/** Bodies that are read in the compute thread, and what they may hold. */

const service = await startService();
after(service.close);
const { key } = await service.key();
await conversationAgent(service, { agentName: 'Many' });
await singleAgent(service, { agentName: 'One' });
await deployed(service, { user: '{{question}}' }, { agentName: 'Tools', allowTools: true });

function create(body: object) {
  return service.call('POST', '/v1/responses', { key, body });
}

const long = 'x'.repeat(inlineCharsMax);

test('a long conversation reaches the model as it was sent', async () => {
  const input = [
    { role: 'user', content: long },
    { role: 'assistant', content: 'Yes.' },
    { role: 'user', content: 'Again?' },
  ];
  const { status } = await create({ model: 'many', input });
  assert.equal(status, 200);
  const sent = service.models.calls.at(-1)?.messages?.slice(1);
  assert.deepEqual(
    sent?.map(({ role, content }) => ({ role, content })),
    input,
  );
});

test('a long body is refused for what is wrong with it, in the order of a short one', async () => {
  const { status, body } = await create({ model: 'one', input: long, unknown: 1 });
  assert.deepEqual(
    [status, body.error.code, body.error.param],
    [400, 'unknown_parameter', 'unknown'],
  );
  const nobody = await create({ model: 'nobody', input: long, unknown: 1 });
  assert.deepEqual([nobody.status, nobody.body.error.code], [404, 'model_not_found']);
});

test('400 for a schema over its budget, naming the limit', async () => {
  const names = Array.from({ length: 2_600 }, (_, n) => `^property-${n}`);
  const schema = { patternProperties: Object.fromEntries(names.map((name) => [name, true])) };
  const format = { type: 'json_schema', name: 'x', schema };
  const { status, body } = await create({ model: 'one', input: 'x', text: { format } });
  const { param, code, message } = body.error;
  assert.deepEqual([status, code, param], [400, 'invalid_value', 'text.format']);
  assert.match(message, /is not a valid JSON schema.*holds more than \d+ /);
});

test('400 for more tools, or longer schemas of them, than a version may have', async () => {
  const toolOf = (name: string, parameters?: object) => ({ type: 'function', name, parameters });
  const many = Array.from({ length: 129 }, (_, n) => toolOf(`tool${n}`));
  const large = [toolOf('large', { description: 'x'.repeat(70_000) })];
  for (const [tools, param] of [
    [many, 'tools'],
    [large, 'tools[0].parameters'],
  ] as const) {
    const { status, body } = await create({ model: 'tools', input: 'x', tools });
    assert.deepEqual([status, body.error.code, body.error.param], [400, 'invalid_value', param]);
  }
});

test('arguments of a tool cannot hold what a body cannot', async () => {
  const called = (text: string) => [
    { type: 'function_call', call_id: 'a', name: 'find', arguments: text },
    { type: 'function_call_output', call_id: 'a', output: 'x' },
  ];
  const deep = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`;
  for (const text of ['{"a":"\\u0000"}', deep]) {
    const { status, body } = await create({ model: 'many', input: called(text) });
    assert.deepEqual([status, body.error.code, body.error.param], [400, 'invalid_value', 'input']);
  }
});

test('calls of tools that follow each other become one message without copying its list', () => {
  const count = 1_000;
  const input = Array.from({ length: count }, (_, n) => {
    return { type: 'function_call', call_id: `c${n}`, name: 'find', arguments: '{}' };
  });
  const text = JSON.stringify({ model: 'many', input });
  const iterator = Object.getPrototypeOf([][Symbol.iterator]());
  const { next } = iterator;
  let steps = 0;
  iterator.next = function () {
    steps++;
    return next.call(this);
  };
  const read = readCall({ api: 'responses', sent: text, items: null });
  iterator.next = next;
  assert.ok(read.kind === 'call');
  const [message, ...others] = JSON.parse(read.call.conversation.messages.json);
  assert.equal(others.length, 0);
  assert.deepEqual(
    message.toolCalls.map(({ id }: { id: string }) => id),
    input.map(({ call_id }) => call_id),
  );
  assert.ok(steps < 20 * count, `${steps} items of lists were read`);
});
