import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { conversationAgent, stream } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';

/** The kinds of requests that the suite of Open Responses sends, and the fields that it requires. */

const service = await startService();
after(service.close);
const { key } = await service.key({ permissions: ['execute'] });
const allowed = { allowInstructions: true, allowTools: true };
const { slug: model } = await conversationAgent(service, allowed);
const path = '/v1/responses';

type Fields = Record<string, unknown>;

/** The names of the required fields by type. */
const required: Readonly<Record<string, readonly string[]>> = {
  string: ['id', 'object', 'status', 'model', 'truncation', 'service_tier', 'tool_choice'],
  number: ['created_at', 'completed_at', 'top_p', 'temperature', 'presence_penalty'],
  boolean: ['parallel_tool_calls', 'store', 'background'],
  object: ['text', 'reasoning', 'usage', 'metadata', 'output', 'tools'],
  null: ['incomplete_details', 'previous_response_id', 'error', 'max_tool_calls'],
};
const nullable = ['instructions', 'max_output_tokens', 'safety_identifier', 'prompt_cache_key'];

function checkResponse(response: Fields): void {
  for (const [type, names] of Object.entries(required)) {
    for (const name of names) {
      const value = response[name];
      assert.equal(value === null ? 'null' : typeof value, type, name);
    }
  }
  for (const name of nullable) assert.ok(Object.hasOwn(response, name), name);
  assert.equal(response.status, 'completed');
  assert.ok((response.output as unknown[]).length > 0);
}

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather at a place.',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string' } },
    required: ['location'],
  },
};
const image = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

const requests: Readonly<Record<string, Fields>> = {
  'a text': { input: [user('Say hello.')] },
  'a system prompt': {
    input: [{ type: 'message', role: 'system', content: 'Be a pirate.' }, user('Say hello.')],
  },
  tools: { input: [user('The weather in Rome?')], tools: [weather] },
  'an image': {
    input: [
      user([
        { type: 'input_text', text: 'What is it?' },
        { type: 'input_image', image_url: image },
      ]),
    ],
  },
  'a conversation': {
    input: [
      user('I am Ada.'),
      { type: 'message', role: 'assistant', content: 'Hello Ada.' },
      user('Who am I?'),
    ],
  },
};

function scriptTool(): void {
  const toolCalls = [{ id: 'call_1', name: 'get_weather', arguments: { location: 'Rome' } }];
  service.models.script({ text: '', finishReason: 'tool-calls', toolCalls });
}

for (const [name, request] of Object.entries(requests)) {
  test(name, async () => {
    if (name === 'tools') scriptTool();
    const { status, body } = await service.call('POST', path, { key, body: { model, ...request } });
    assert.equal(status, 200, JSON.stringify(body));
    checkResponse(body);
    if (name === 'tools') assert.equal(body.output[0].type, 'function_call');
  });
}

for (const name of ['a text', 'tools']) {
  test(`${name}, as a stream`, async () => {
    if (name === 'tools') scriptTool();
    const body = { model, ...requests[name], stream: true };
    const { events } = await stream(service, path, key, body);
    const types: string[] = events.map(({ type }) => type);
    checkResponse(events.at(-1).response);
    const expected =
      name === 'tools'
        ? [
            'response.output_item.added',
            'response.function_call_arguments.delta',
            'response.function_call_arguments.done',
            'response.output_item.done',
          ]
        : [
            'response.output_item.added',
            'response.content_part.added',
            'response.output_text.delta',
            'response.output_text.done',
            'response.content_part.done',
          ];
    for (const type of expected) assert.ok(types.includes(type), type);
    for (const event of events) assert.ok(Number.isInteger(event.sequence_number));
  });
}
