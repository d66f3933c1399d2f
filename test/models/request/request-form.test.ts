import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ModelCall } from '../../../src/core/model/model-port.ts';
import { languageModel } from '../../../src/models/adapters/language-model.ts';
import { complete, type ProviderSettings } from '../../../src/models/connection/settings.ts';
import { generate } from '../../../src/models/generate.ts';
import { chat, response } from '../generated.ts';

/** Models that reject parameters: the requests that they get. */

// biome-ignore lint/suspicious/noExplicitAny: tests read any field
type Body = any;
type Reply = (body: Body) => { status: number; body: object } | null;

const settings = { system: 'Be brief.', user: 'Hello', temperature: 0.2, maxTokens: 9, topP: 0.5 };

/** A model that rejects what `reject` rejects, and the bodies of its requests. */
async function model(reject: Reply, more: Partial<ProviderSettings> = {}, name = 'm') {
  const requests: { body: Body; text: string; headers: Headers }[] = [];
  const given = { name: 'p', kind: 'openai-compatible', apiKey: 'key', ...more } as const;
  const baseURL = more.baseURL ?? 'https://models.example/v1';
  const connection = complete({ ...given, baseURL }, false, '');
  const ready = await languageModel(connection, name, async (url, init) => {
    const text = String(init?.body);
    const body = JSON.parse(text);
    requests.push({ body, text, headers: new Headers(init?.headers) });
    const rejection = reject(body);
    if (rejection) return Response.json(rejection.body, { status: rejection.status });
    return Response.json(answerOf(String(url)));
  });
  const ask = (call: Partial<ModelCall> = {}) =>
    generate(ready, { ...settings, ...call }, new AbortController().signal);
  return { requests, ask };
}

function answerOf(url: string): object {
  if (url.endsWith('/converse')) {
    return {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    };
  }
  if (url.endsWith('/messages')) {
    return {
      ...{ id: 'msg', type: 'message', role: 'assistant', model: 'm' },
      ...{ content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn' },
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  }
  if (url.endsWith('/responses')) return response({});
  return chat(undefined, { message: { role: 'assistant', content: 'hi' } });
}

const rejection = (message: string, more: object = {}) => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error', param: null, code: null, ...more } },
});

const reasoner: Reply = (body) => {
  if (body.max_tokens !== undefined) {
    const text = `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.`;
    return rejection(text, { param: 'max_tokens', code: 'unsupported_parameter' });
  }
  if (body.temperature === undefined) return null;
  const text = `Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.`;
  return rejection(text, { param: 'temperature', code: 'unsupported_value' });
};

test('a field that a version sends is left out with the value that was rejected, not with another one', async () => {
  const { requests, ask } = await model((body) =>
    body.min_p > 1 ? rejection("Unsupported value: 'min_p' must be one of 0 to 1.") : null,
  );
  const sent = async (min_p: number) => {
    const { length } = requests;
    const { settingsNotApplied } = await ask({ settings: { providerOptions: { p: { min_p } } } });
    return [requests.slice(length).map(({ body }) => body.min_p), settingsNotApplied];
  };
  assert.deepEqual(await sent(7), [[7, undefined], ['providerOptions']]);
  assert.deepEqual(await sent(0.1), [[0.1], []]);
  // This value is remembered.
  assert.deepEqual(await sent(7), [[undefined], ['providerOptions']]);
});

test('an answer that has to be repaired is not requested again', async () => {
  const odd = { ...chat(undefined, { index: 'none' }), created: 'now' };
  const { requests, ask } = await model((body) => reasoner(body) ?? { status: 200, body: odd });
  const { text, settingsNotApplied, details } = await ask();
  assert.deepEqual([text, settingsNotApplied], ['hi', ['temperature']]);
  assert.equal(details.modelAnswered, 'm');
  assert.equal(requests.length, 3);
});

test('each rejected setting is changed once, and the form is remembered', async () => {
  const { requests, ask } = await model(reasoner);
  assert.deepEqual((await ask()).settingsNotApplied, ['temperature']);
  assert.equal(requests.length, 3);
  const { body } = requests.at(-1) ?? {};
  assert.deepEqual(
    [body.max_tokens, body.max_completion_tokens, body.temperature, body.top_p],
    [undefined, 9, undefined, 0.5],
  );
  assert.deepEqual((await ask()).settingsNotApplied, ['temperature']);
  assert.equal(requests.length, 4);
  assert.deepEqual((await ask({ temperature: null })).settingsNotApplied, []);
});

test('calls that are sent together are each sent in the other form', async () => {
  const { requests, ask } = await model(reasoner);
  await Promise.all([ask(), ask(), ask()]);
  assert.ok(requests.length <= 9);
});

test('a server that does not know max_completion_tokens gets max_tokens', async () => {
  const { requests, ask } = await model(
    (body) =>
      body.max_completion_tokens === undefined
        ? null
        : {
            status: 422,
            body: {
              detail: [
                {
                  ...{ type: 'extra_forbidden', loc: ['body', 'max_completion_tokens'], input: 9 },
                  msg: 'Extra inputs are not permitted',
                },
              ],
            },
          },
    { kind: 'openai', baseURL: 'https://models.example/v1' },
    'gpt-5',
  );
  await ask();
  assert.deepEqual([requests.length, requests[1]?.body.max_tokens], [2, 9]);
});

describe('a rejected sampling setting is left out', () => {
  const both = '`temperature` and `top_p` cannot both be specified for this model.';
  const deprecated =
    'litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: `temperature` is deprecated for this model."}';
  const cases: [string, Reply, string[]][] = [
    [
      'temperature',
      ({ temperature }) => (temperature ? rejection(deprecated) : null),
      ['temperature'],
    ],
    ['top_p', ({ top_p }) => (top_p ? rejection(`top_p is not supported`) : null), ['topP']],
    [
      'one of two',
      ({ temperature, top_p }) => (temperature && top_p ? rejection(both) : null),
      ['topP'],
    ],
  ];
  for (const [name, reject, notApplied] of cases) {
    test(name, async () => {
      const { requests, ask } = await model(reject);
      assert.deepEqual((await ask()).settingsNotApplied, notApplied);
      assert.equal(requests.length, 2);
    });
  }

  test('by Bedrock, in a request that is signed', async () => {
    const { requests, ask } = await model(
      ({ inferenceConfig }) =>
        inferenceConfig.temperature === undefined
          ? null
          : { status: 400, body: { message: '`temperature` is deprecated for this model.' } },
      {
        ...{ kind: 'bedrock', apiKey: 'AKIAEXAMPLE:secret' },
        baseURL: 'https://bedrock-runtime.us-east-1.amazonaws.com',
      },
    );
    assert.deepEqual((await ask()).settingsNotApplied, ['temperature']);
    const signatures = requests.map(({ headers }) => headers.get('authorization'));
    assert.equal(new Set(signatures).size, 2);
  });
});

describe('roles', () => {
  const developer: Reply = ({ messages }) =>
    messages.some(({ role }: Body) => role === 'developer')
      ? rejection(
          "[{'type': 'value_error', 'loc': ('body', 'messages', 0), 'msg': 'Value error, Unexpected role: developer'}]",
        )
      : null;
  const noSystem = (body: Body, text: string) =>
    body.messages.some(({ role }: Body) => role === 'system') ? rejection(text) : null;

  test('developer becomes system', async () => {
    const openai = { kind: 'openai', baseURL: 'https://models.example/v1' } as const;
    const { requests, ask } = await model(developer, openai, 'gpt-5');
    await ask();
    assert.deepEqual(
      requests.map(({ body }) => body.messages[0].role),
      ['developer', 'system'],
    );
    assert.equal(requests[1]?.body.messages[0].content, 'Be brief.');
  });

  for (const text of [
    'System role not supported',
    'Developer instruction is not enabled for models/gemma-3-27b-it',
    'Conversation roles must alternate user/assistant/user/assistant/...',
  ]) {
    test(`system becomes the beginning of the user message: ${text}`, async () => {
      const { requests, ask } = await model((body) => developer(body) ?? noSystem(body, text));
      assert.deepEqual((await ask()).settingsNotApplied, []);
      const [message, ...more] = requests.at(-1)?.body.messages ?? [];
      assert.deepEqual([requests.length, message.role, more.length], [2, 'user', 0]);
      assert.match(JSON.stringify(message.content), /Be brief\..*Hello/);
    });
  }
});

describe('an error is not resent', () => {
  const cases: [string, Reply][] = [
    ['if the value is out of range', () => rejection('temperature must be at most 2.')],
    [
      'if the limit is too large',
      () =>
        rejection(
          'max_tokens is too large: 99999. This model supports at most 16384 completion tokens',
        ),
    ],
    ['if it names no setting of the call', () => rejection("Unsupported parameter: 'seed'")],
    [
      'if it rejects the content of the system text',
      () => rejection('The system message contains content that is not allowed by our policy.'),
    ],
    [
      'if it is no rejection',
      () => ({ status: 500, body: { error: 'temperature is not supported' } }),
    ],
  ];
  for (const [name, reject] of cases) {
    test(name, async () => {
      const { requests, ask } = await model(reject);
      await assert.rejects(ask());
      assert.equal(requests.length, 1);
    });
  }
});

test('a form that is rejected too is not remembered', async () => {
  let broken = true;
  const { requests, ask } = await model(() =>
    broken ? rejection('temperature is not supported here') : null,
  );
  await assert.rejects(ask());
  // Without the temperature, then without the other sampling setting.
  assert.equal(requests.length, 3);
  broken = false;
  assert.deepEqual((await ask()).settingsNotApplied, []);
  assert.equal(requests.at(-1)?.body.temperature, 0.2);
});

describe('a server without chat completions', () => {
  const answer = {
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm' },
    output: [
      {
        ...{ type: 'message', id: 'm', status: 'completed', role: 'assistant' },
        content: [{ type: 'output_text', annotations: [], text: 'Hello.' }],
      },
    ],
    usage: { input_tokens: 12, output_tokens: 5 },
  };

  async function server(kind: 'openai' | 'azure' | 'openai-compatible', missing: Response) {
    const paths: string[] = [];
    const given = { name: 'p', kind, apiKey: 'key', baseURL: 'https://models.example/v1' };
    const ready = await languageModel(complete(given, false, ''), 'm', async (input) => {
      const { pathname } = new URL(String(input));
      paths.push(pathname);
      return pathname.endsWith('/responses') ? Response.json(answer) : missing.clone();
    });
    const ask = () => generate(ready, settings, new AbortController().signal);
    return { paths, ask };
  }
  const notHere = () =>
    Response.json({ error: { message: 'not here: /v1/chat/completions' } }, { status: 404 });

  for (const kind of ['openai', 'azure'] as const) {
    test(`is called through the Responses API, which is remembered: ${kind}`, async () => {
      const { paths, ask } = await server(kind, notHere());
      for (const expected of [['/v1/chat/completions', '/v1/responses'], ['/v1/responses']]) {
        paths.length = 0;
        assert.equal((await ask()).text, 'Hello.');
        assert.deepEqual(paths, expected);
      }
    });
  }

  test('may answer a chat completion as if it had been asked through the Responses API', async () => {
    const { paths, ask } = await server('openai', Response.json(answer));
    assert.equal((await ask()).text, 'Hello.');
    assert.deepEqual(paths, ['/v1/chat/completions']);
  });

  test('is not, if the answer is no error of an API, names the model, or the kind has no other API', async () => {
    const model = Response.json(
      { error: { message: 'The model m does not exist' } },
      { status: 404 },
    );
    const plain = new Response('404 page not found', { status: 404 });
    const cases = [
      ['openai', plain],
      ['openai', model],
      ['openai-compatible', notHere()],
    ] as const;
    for (const [kind, missing] of cases) {
      const { paths, ask } = await server(kind, missing);
      await assert.rejects(ask());
      assert.deepEqual(paths, ['/v1/chat/completions']);
    }
  });
});

test('a setting that the AI SDK leaves out is reported', async () => {
  const { ask } = await model(
    () => null,
    { kind: 'openai', baseURL: 'https://api.openai.com/v1' },
    'gpt-5',
  );
  assert.deepEqual((await ask()).settingsNotApplied, ['temperature', 'topP']);
});

describe('an empty text is left out', () => {
  const kinds = [
    { kind: 'openai-compatible', baseURL: 'https://models.example/v1' },
    { kind: 'anthropic', baseURL: 'https://models.example/v1' },
    { kind: 'bedrock', baseURL: 'https://bedrock-runtime.us-east-1.amazonaws.com' },
  ] as const;
  for (const each of kinds) {
    test(each.kind, async () => {
      for (const system of [null, '', ' \n']) {
        const { requests, ask } = await model(() => null, each);
        await ask({ system });
        const { system: sent, messages } = requests[0]?.body ?? {};
        assert.deepEqual([sent ?? [], messages.length, messages[0].role], [[], 1, 'user']);
      }
      const { requests, ask } = await model(() => null, each);
      await ask({ user: '' });
      assert.ok(!requests[0]?.text.includes('"user"'));
    });
  }
});

describe('a model that answers only with a stream', () => {
  const texts = [
    'This model only support stream mode, please enable the stream parameter to access the model. ',
    'This model only supports streaming responses.',
    'Streaming is required for requests of this length.',
    'The stream parameter must be set to true: this model requires streaming.',
  ];
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const stream = `${chunk({ role: 'assistant', content: 'Hel' })}${chunk({ content: 'lo.' })}${chunk({}, 'stop')}data: [DONE]\n\n`;

  async function streamOnly(text: string) {
    const streamed: boolean[] = [];
    const given = { name: 'p', kind: 'openai-compatible', apiKey: 'key' } as const;
    const connection = complete({ ...given, baseURL: 'https://models.example/v1' }, false, '');
    const ready = await languageModel(connection, 'm', async (_, init) => {
      const body = JSON.parse(String(init?.body));
      streamed.push(body.stream === true);
      if (!body.stream) return Response.json(rejection(text).body, { status: 400 });
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
    });
    const ask = () => generate(ready, settings, new AbortController().signal);
    return { streamed, ask };
  }

  for (const text of texts) {
    test(text, async () => {
      const { streamed, ask } = await streamOnly(text);
      for (const expected of [[false, true], [true]]) {
        streamed.length = 0;
        const { text: answer, finishReason, settingsNotApplied } = await ask();
        assert.deepEqual([answer, finishReason], ['Hello.', 'stop']);
        assert.deepEqual(settingsNotApplied, []);
        assert.deepEqual(streamed, expected);
      }
    });
  }

  test('is not assumed of one that names the stream for another reason', async () => {
    const { streamed, ask } = await streamOnly('The stream_options need a stream.');
    await assert.rejects(ask());
    assert.deepEqual(streamed, [false]);
  });
});
