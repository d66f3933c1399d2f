import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { conversationAgent, singleAgent, stream } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { models } = service;
const { key } = await service.key({ permissions: ['execute'] });
await singleAgent(service, { agentName: 'One', allowInstructions: true, allowTools: true });
await conversationAgent(service, { agentName: 'Many' });
const path = '/v1/chat/completions';
const user = (content: unknown) => ({ role: 'user', content });

function create(body: object) {
  return service.call('POST', path, { key, body });
}

test('a message is answered', async () => {
  const messages = [
    user([
      { type: 'text', text: 'Why' },
      { type: 'text', text: '?' },
    ]),
  ];
  const { status, body } = await create({ model: 'one', messages, n: 1, max_tokens: 5 });
  assert.equal(status, 200);
  const { id, created, ...completion } = body;
  assert.match(id, /^exe_/);
  assert.ok(Number.isInteger(created));
  assert.deepEqual(completion, {
    ...{
      object: 'chat.completion',
      model: 'one',
      service_tier: 'default',
      system_fingerprint: null,
    },
    choices: [
      {
        ...{ index: 0, finish_reason: 'stop', logprobs: null },
        message: { role: 'assistant', content: 'Answer: Why?', refusal: null, annotations: [] },
      },
    ],
    usage: {
      ...{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  });
});

test('the conversation with its calls of tools reaches the model', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q":1}' } };
  const messages = [
    user('Find it'),
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: 'Found' },
  ];
  assert.equal((await create({ model: 'many', messages })).status, 200);
  assert.deepEqual(models.calls.at(-1)?.messages?.slice(1), [
    { role: 'user', content: 'Find it' },
    {
      ...{ role: 'assistant', content: '' },
      toolCalls: [{ id: 'c1', name: 'find', arguments: { q: 1 } }],
    },
    { role: 'tool', toolCallId: 'c1', content: 'Found' },
  ]);
});

test('instructions and tools; calls of tools are the answer', async () => {
  models.script({
    ...{ text: '', finishReason: 'tool-calls' },
    toolCalls: [{ id: 'c2', name: 'find', arguments: { q: 2 } }],
  });
  const tools = [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }];
  const messages = [{ role: 'system', content: 'In Latin.' }, user('x')];
  const { body } = await create({ model: 'one', messages, tools });
  assert.equal(models.calls.at(-1)?.system, 'Be brief.\n\nIn Latin.');
  const { message, finish_reason } = body.choices[0];
  assert.deepEqual([message.content, finish_reason], [null, 'tool_calls']);
  assert.deepEqual(message.tool_calls, [
    { id: 'c2', type: 'function', function: { name: 'find', arguments: '{"q":2}' } },
  ]);
});

test('a stream of chunks, with the usage if asked for', async () => {
  const body = { model: 'one', messages: [user('Why?')], stream: true };
  for (const include_usage of [false, true]) {
    const { response, events } = await stream(service, path, key, {
      ...{ ...body, stream_options: { include_usage } },
    });
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.equal(events.at(-1), '[DONE]');
    const chunks = events.slice(0, -1);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    assert.equal(text, 'Answer: Why?');
    assert.deepEqual(chunks[0].choices[0].delta, { role: 'assistant', content: '' });
    const finished = chunks.at(include_usage ? -2 : -1);
    assert.equal(finished.choices[0].finish_reason, 'stop');
    const last = chunks.at(-1);
    assert.equal(last.usage?.total_tokens, include_usage ? 15 : undefined);
    assert.equal(last.choices.length, include_usage ? 0 : 1);
  }
});
