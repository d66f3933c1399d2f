import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { singleAgent, stream } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';

const service = await startService();
after(service.close);
const { models } = service;
const { key } = await service.key();
await singleAgent(service, { agentName: 'One' });
const path = '/v1/chat/completions';
const messages = [{ role: 'user', content: 'x' }];

function create(body: object) {
  return service.call('POST', path, { key, body: { model: 'one', messages, ...body } });
}

test('502 with the code of the execution, 504 after a timeout; not to be retried', async () => {
  for (const [code, status] of [
    ['PROVIDER_AUTH', 502],
    ['CONTENT_FILTERED', 502],
    ['MODEL_TIMEOUT', 504],
  ] as const) {
    models.script(new ModelFailure(code, 'No.', { retryable: false }));
    const response = await create({});
    assert.equal(response.status, status);
    assert.equal(response.headers.get('x-should-retry'), 'false');
    const { error } = response.body;
    assert.deepEqual([error.code, error.type, error.message], [code, 'server_error', 'No.']);
    assert.match(error.response_id, /^exe_/);
  }
});

test('in a stream, the failure is the last chunk', async () => {
  models.script(new ModelFailure('PROVIDER_AUTH', 'No.'));
  const { events } = await stream(service, path, key, { model: 'one', messages, stream: true });
  assert.deepEqual(
    events.slice(-2).map((one) => one.error?.code ?? one),
    ['PROVIDER_AUTH', '[DONE]'],
  );
});

test('400 for what is not supported or malformed', async () => {
  const user = (content: unknown) => [{ role: 'user', content }];
  for (const [body, code, param] of [
    [{ n: 2 }, 'unsupported_parameter', 'n'],
    [{ logprobs: true }, 'unsupported_parameter', 'logprobs'],
    [{ audio: {} }, 'unsupported_parameter', 'audio'],
    [{ modalities: ['audio'] }, 'unsupported_parameter', 'modalities'],
    [{ functions: [{ name: 'f' }] }, 'unsupported_parameter', 'functions'],
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, 'unsupported_parameter', 'tools'],
    [
      { messages: [{ role: 'system', content: 'x' }, ...user('x')] },
      'unsupported_parameter',
      'messages',
    ],
    [
      { messages: user([{ type: 'image_url' }]) },
      'unsupported_parameter',
      'messages[0].content[0]',
    ],
    [{ messages: [...user('a'), ...user('b')] }, 'invalid_value', 'messages'],
    [{ messages: [{ role: 'x', content: 'a' }] }, 'invalid_value', 'messages[0].role'],
    [{ messages: null }, 'missing_required_parameter', 'messages'],
    [{ foo: 1 }, 'unknown_parameter', 'foo'],
    [{ response_format: { type: 'json_schema' } }, 'invalid_value', 'response_format.schema'],
  ] as const) {
    const { status, body: answer } = await create(body);
    const { error } = answer;
    assert.deepEqual([status, error.code, error.param], [400, code, param], error.message);
  }
});
