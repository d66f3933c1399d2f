import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ResponseFormat } from '../../../src/core/agent/response-format.ts';
import { kinds, wireRequests } from '../wire-request.ts';

/** How each provider kind is asked for JSON: the exact request, and what follows if it rejects the schema. */

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};
const responseFormat: ResponseFormat = { type: 'json', schema };
const open: ResponseFormat = { type: 'json', schema: { type: 'object', minProperties: 1 } };
const list: ResponseFormat = { type: 'json', schema: { type: 'array' } };

const instruction = (format = responseFormat) =>
  `Answer only with JSON that matches this JSON schema, without any other text:\n${JSON.stringify(format.schema)}`;
const user = { role: 'user', content: [{ type: 'text', text: 'hello' }] };
const chatFormat = (strict: boolean, format = responseFormat) => ({
  type: 'json_schema',
  json_schema: { schema: format.schema, strict, name: 'response' },
});

const bodies: Readonly<Record<keyof typeof kinds, object>> = {
  responses: {
    ...{ model: 'gpt-4o', store: false },
    input: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
    ],
    text: { format: { type: 'json_schema', strict: true, name: 'response', schema } },
  },
  chat: {
    model: 'gpt-4o',
    messages: [
      { role: 'system', content: `Be brief.\n\n${instruction()}` },
      { role: 'user', content: 'hello' },
    ],
    response_format: chatFormat(true),
  },
  anthropic: {
    ...{ model: 'claude-sonnet-4-5', max_tokens: 64_000 },
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [user],
    output_config: { format: { type: 'json_schema', schema } },
  },
  google: {
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
  },
  bedrock: {
    system: [{ text: 'Be brief.' }],
    messages: [{ role: 'user', content: [{ text: 'hello' }] }],
    additionalModelRequestFields: { output_config: { format: { type: 'json_schema', schema } } },
    additionalModelResponseFieldPaths: ['/delta/stop_sequence'],
  },
  compatible: {
    model: 'm',
    messages: [
      { role: 'system', content: `Be brief.\n\n${instruction()}` },
      { role: 'user', content: 'hello' },
    ],
    response_format: chatFormat(true),
  },
};

describe('the request', () => {
  for (const [name, body] of Object.entries(bodies)) {
    test(name, async () => {
      const { settings, model } = kinds[name as keyof typeof kinds];
      const call = { system: 'Be brief.', responseFormat };
      const { sent, generated } = await wireRequests(settings, model, call);
      assert.deepEqual(sent[0]?.body, body);
      assert.deepEqual(generated.settingsNotApplied, []);
    });
  }

  test('keeps the order of properties', async () => {
    const { settings, model } = kinds.google;
    const { sent } = await wireRequests(settings, model, { responseFormat });
    const { properties } = sent[0]?.body.generationConfig.responseJsonSchema ?? {};
    assert.deepEqual(Object.keys(properties), ['name', 'age']);
  });
});

test('a schema that strict mode rejects is sent without it', async () => {
  const responses = await wireRequests({}, 'gpt-4o', { responseFormat: open });
  assert.equal(responses.sent[0]?.body.text.format.strict, false);
  const { settings, model } = kinds.compatible;
  const compatible = await wireRequests(settings, model, { responseFormat: open });
  assert.deepEqual(compatible.sent[0]?.body.response_format, chatFormat(false, open));
});

test('models of older kinds answer through a tool', async () => {
  const tool = { name: 'json', input: { name: 'A', age: 5 } };
  const anthropic = await wireRequests(
    { kind: 'anthropic' },
    'claude-3-5-haiku-latest',
    { responseFormat },
    () =>
      Response.json({
        ...{ id: 'msg', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use' },
        content: [{ type: 'tool_use', id: 't', ...tool }],
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
  );
  assert.deepEqual(anthropic.sent[0]?.body.tools[0].input_schema, schema);
  assert.equal(anthropic.generated.text, '{"name":"A","age":5}');
  assert.equal(anthropic.generated.finishReason, 'stop');
  const bedrock = await wireRequests(
    { kind: 'bedrock' },
    'amazon.nova-pro-v1:0',
    { responseFormat },
    () =>
      Response.json({
        output: {
          message: { role: 'assistant', content: [{ toolUse: { toolUseId: 't', ...tool } }] },
        },
        stopReason: 'tool_use',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      }),
  );
  assert.deepEqual(bedrock.sent[0]?.body.toolConfig.tools[0].toolSpec.inputSchema.json, schema);
  assert.equal(bedrock.generated.text, '{"name":"A","age":5}');
  assert.equal(bedrock.generated.finishReason, 'stop');
});

describe('a schema that no API of the kind takes is asked for by a text', () => {
  for (const kind of ['responses', 'chat', 'anthropic', 'bedrock', 'compatible'] as const) {
    test(kind, async () => {
      const { settings, model } = kinds[kind];
      const { sent } = await wireRequests(settings, model, { responseFormat: list });
      const plain = await wireRequests(settings, model, { system: instruction(list) });
      assert.deepEqual(sent[0]?.body, plain.sent[0]?.body);
    });
  }
});

const rejections: Record<string, string> = {
  'an unknown parameter': "Unknown parameter: 'response_format'.",
  'an unsupported type': 'This response_format type is unavailable now',
  'a schema': "Invalid schema for response_format 'response': In context=(), ...",
  'structured outputs': 'Model does not support structured outputs',
};
for (const [what, message] of Object.entries(rejections)) {
  test(`a server that rejects ${what} is asked by the text alone, then and later`, async () => {
    const { settings, model } = kinds.compatible;
    const { sent, generated, ask } = await wireRequests(
      settings,
      model,
      { responseFormat },
      (body) =>
        'response_format' in body ? Response.json({ error: { message } }, { status: 400 }) : null,
    );
    assert.equal(sent.length, 2);
    assert.equal(sent[1]?.body.messages[0].content, instruction());
    assert.deepEqual(generated.settingsNotApplied, []);
    await ask();
    assert.equal(sent.length, 3);
    assert.ok(!('response_format' in (sent[2]?.body ?? {})));
  });
}

test('a schema rejected by the Responses API is asked for by a text', async () => {
  const call = { system: 'S', responseFormat };
  const { sent, generated } = await wireRequests({}, 'gpt-4o', call, (body) =>
    'text' in body
      ? Response.json(
          { error: { message: "Invalid schema for response_format 'response'" } },
          { status: 400 },
        )
      : null,
  );
  assert.equal(sent[1]?.body.input[0].content, `S\n\n${instruction()}`);
  assert.equal(generated.details.instruction, instruction());
  const native = await wireRequests({}, 'gpt-4o', call);
  assert.ok(!('instruction' in native.generated.details));
});

test('another rejection is no reason to leave the schema out', async () => {
  const { settings, model } = kinds.compatible;
  let calls = 0;
  await assert.rejects(
    wireRequests(settings, model, { responseFormat }, () => {
      calls++;
      return Response.json({ error: { message: 'Bad things' } }, { status: 400 });
    }),
  );
  assert.equal(calls, 1);
});

test('the reason why an answer was not accepted is the last message', async () => {
  const { settings, model } = kinds.chat;
  const correction = 'The output does not match its schema: "age" is missing.';
  const { sent } = await wireRequests(settings, model, { responseFormat, correction });
  assert.deepEqual(sent[0]?.body.messages.slice(1), [
    { role: 'user', content: 'hello' },
    {
      role: 'user',
      content: `Your previous answer was not accepted. ${correction} Answer again, with nothing but JSON that matches the schema.`,
    },
  ]);
});
