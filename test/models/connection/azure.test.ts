import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noExtras } from '../../../src/core/model/request-extras.ts';
import { languageModel } from '../../../src/models/adapters/language-model.ts';
import { complete, type ProviderSettings } from '../../../src/models/connection/settings.ts';
import { generate } from '../../../src/models/generate.ts';
import { chat, response } from '../generated.ts';

/** The addresses of Azure, and models that are only in chat completions. */

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** A model whose requests get these responses in turn; the last one is repeated. */
async function connect(settings: Partial<ProviderSettings>, ...responses: (() => Response)[]) {
  const sent: Sent[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const body = JSON.parse(String(init?.body));
    sent.push({ url: String(url), headers: new Headers(init?.headers), body });
    const answer = responses.length > 1 ? responses.shift() : responses[0];
    assert.ok(answer);
    return answer();
  };
  const whole = { name: 'azure', kind: 'azure', apiKey: 'key', baseURL: null } as const;
  const model = await languageModel(complete({ ...whole, ...settings }, false, ''), 'gpt', fetch);
  const call = { system: 'Be brief.', user: 'hi', temperature: 0.5, maxTokens: 9, topP: null };
  return { sent, ask: () => generate(model, call, AbortSignal.timeout(10_000)) };
}

const completion = () => Response.json(chat());
const responses = () => Response.json(response());

const deployments: [baseURL: string, url: string, query?: Record<string, string>][] = [
  [
    'https://res.openai.azure.com/openai/deployments/prod',
    'https://res.openai.azure.com/openai/deployments/prod/chat/completions?api-version=2024-02-01',
    { 'api-version': '2024-02-01' },
  ],
  [
    'https://res.openai.azure.com/openai/deployments/prod/chat/completions',
    'https://res.openai.azure.com/openai/deployments/prod/chat/completions?api-version=2024-10-21',
  ],
  [
    'https://gateway.example/azure/openai/deployments/prod',
    'https://gateway.example/azure/openai/deployments/prod/chat/completions?api-version=2024-10-21',
  ],
  [
    'https://res.services.ai.azure.com/models',
    'https://res.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview',
  ],
  ['https://gateway.example/v1', 'https://gateway.example/v1/chat/completions'],
];
for (const [baseURL, url, query = {}] of deployments) {
  test(`${url} is called by chat completions`, async () => {
    const { sent, ask } = await connect({ baseURL, extras: { ...noExtras, query } }, completion);
    await ask();
    assert.equal(sent.length, 1);
    const [request] = sent;
    assert.equal(request?.url, url);
    assert.deepEqual(
      [request?.headers.get('api-key'), request?.headers.get('authorization')],
      ['key', null],
    );
    assert.deepEqual(request?.body, {
      ...{ model: 'gpt', max_tokens: 9, temperature: 0.5 },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
    });
  });
}

for (const baseURL of ['https://res.openai.azure.com', 'https://res.openai.azure.com/openai/']) {
  test(`${baseURL} is a resource, called by the Responses API`, async () => {
    const { sent, ask } = await connect({ baseURL }, responses);
    assert.deepEqual((await ask()).usage, {
      ...{ inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
    });
    assert.equal(sent[0]?.url, 'https://res.openai.azure.com/openai/v1/responses');
  });
}

const rejections: [status: number, error: object][] = [
  [400, { message: 'This model is not supported by Responses API.', param: 'model' }],
  [400, { code: 'OperationNotSupported', message: 'The requested operation is unsupported.' }],
  [
    404,
    { message: 'This model is only supported in v1/chat/completions and not in v1/responses.' },
  ],
];
for (const [status, error] of rejections) {
  test(`${JSON.stringify(error)}: chat completions from then on`, async () => {
    const reject = () => Response.json({ error }, { status });
    for (const settings of [
      { baseURL: 'https://res.services.ai.azure.com/openai/v1' },
      { kind: 'openai' } as const,
    ]) {
      const { sent, ask } = await connect(settings, reject, completion);
      const { text, usage } = await ask();
      await ask();
      assert.deepEqual(
        sent.map(({ url }) => /\/(responses|chat\/completions)(\?|$)/.exec(url)?.[1]),
        ['responses', 'chat/completions', 'chat/completions'],
      );
      assert.ok(!('store' in (sent[1]?.body ?? {})));
      assert.ok(text !== '' && usage !== null);
    }
  });
}

test('another error of the Responses API is not answered with another call', async () => {
  const error = { message: 'temperature must be at most 2.', code: 'invalid_value' };
  const { sent, ask } = await connect(
    { baseURL: 'https://res.openai.azure.com' },
    () => Response.json({ error }, { status: 400 }),
    completion,
  );
  await assert.rejects(ask());
  assert.equal(sent.length, 1);
});
