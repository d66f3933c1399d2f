import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deployed } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';

/** A schema in a call for an agent that has one of its own. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const own = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'integer' } } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const responseFormat = { type: 'json', schema: own };
await deployed(service, { user: '{{q}}', responseFormat }, { agentName: 'Version' });
await deployed(service, { user: '{{q}}' }, { agentName: 'Agent', agentConfig: { responseFormat } });

const pydantic = {
  title: 'Trip',
  type: 'object',
  required: ['days', 'city'],
  properties: {
    days: { title: 'Days', items: { type: 'integer' }, type: 'array', description: 'Of the trip.' },
    city: { title: 'City', type: 'string', examples: ['Oslo'] },
  },
  additionalProperties: false,
};
const zod = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...own };
const other = { ...own, properties: { ...own.properties, city: { type: 'number' } } };

function calls(model: string, schema: object) {
  return {
    '/v1/responses': {
      ...{ model, input: 'x' },
      text: { format: { type: 'json_schema', name: 'Trip', schema, strict: true } },
    },
    '/v1/chat/completions': {
      ...{ model, messages: [{ role: 'user', content: 'x' }] },
      response_format: { type: 'json_schema', json_schema: { name: 'Trip', schema } },
    },
  };
}

for (const model of ['version', 'agent']) {
  for (const [name, schema] of Object.entries({ own, pydantic, zod })) {
    test(`${model}: the same schema, as ${name}`, async () => {
      for (const [path, body] of Object.entries(calls(model, schema))) {
        service.models.script({ text: '{"city":"Oslo","days":[1]}' });
        const answer = await service.call('POST', path, { key, body });
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        const call = service.models.calls.at(-1);
        assert.deepEqual(call?.responseFormat?.schema, own);
      }
    });
  }

  test(`${model}: another schema is 400 that says where it differs`, async () => {
    const executing = await service.key({ permissions: ['execute'] });
    for (const [path, body] of Object.entries(calls(model, other))) {
      const { status, body: answer } = await service.call('POST', path, { key, body });
      assert.deepEqual([status, answer.error.code], [400, 'unsupported_parameter']);
      assert.match(
        answer.error.message,
        /differs from this one at \/properties\/city\/type: it has "string", the call "number"/,
      );
      const untold = await service.call('POST', path, { key: executing.key, body });
      assert.match(
        untold.body.error.message,
        /differs from this one at \/properties\/city\/type\. /,
      );
      assert.doesNotMatch(untold.body.error.message, /string/);
    }
    const { days } = own.properties;
    const fewer = { ...own, properties: { days }, required: ['days'] };
    const body = calls(model, fewer)['/v1/responses'];
    const untold = await service.call('POST', '/v1/responses', { key: executing.key, body });
    assert.equal(untold.status, 400);
    assert.doesNotMatch(untold.body.error.message, /city/);
  });
}

test('an unknown model is told where the agents are', async () => {
  for (const model of ['gpt-5.5', 'openai/gpt-4o', 'claude-opus-5']) {
    for (const [path, body] of Object.entries(calls(model, own))) {
      const { status, body: answer } = await service.call('POST', path, { key, body });
      assert.deepEqual([status, answer.error.code], [404, 'model_not_found']);
      assert.match(answer.error.message, /The model does not exist/);
      assert.match(answer.error.message, /"model" is an agent: .* GET \/v1\/models lists/);
    }
  }
  const { body } = await service.call('GET', '/v1/models/gpt-5.5', { key });
  assert.match(body.error.message, /"model" is an agent/);
});

test('long schemas are compared too', async () => {
  const names = Array.from(
    { length: 300 },
    (_, n) => [`${'x'.repeat(60)}${n}`, { type: 'string' }] as const,
  );
  const schema = (fields: typeof names) => ({
    type: 'object',
    properties: Object.fromEntries(fields),
  });
  const format = { type: 'json', schema: schema(names) };
  await deployed(service, { user: '{{q}}', responseFormat: format }, { agentName: 'Long' });
  const answers = async (asked: object) => {
    service.models.script({ text: '{}' });
    const body = calls('long', asked)['/v1/responses'];
    return (await service.call('POST', '/v1/responses', { key, body })).status;
  };
  assert.equal(await answers(schema(names.toReversed())), 200);
  assert.equal(await answers(schema(names.slice(1))), 400);
});
