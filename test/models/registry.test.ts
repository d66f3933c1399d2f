import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type FakeProvider, failing, startFakeProvider } from '../../harness/fake-provider.ts';
import { resolvesTo } from '../../harness/resolves-to.ts';
import { openUnsealed, unsealed } from '../../harness/setups.ts';
import { collectResponse } from '../../src/core/model/model-events.ts';
import {
  type ModelCall,
  ModelFailure,
  type ModelSetup,
  noDetails,
} from '../../src/core/model/model-port.ts';
import type { Price } from '../../src/core/model/price.ts';
import type { ProviderSettings } from '../../src/models/connection/settings.ts';
import { createModels, type ModelsOptions } from '../../src/models/registry.ts';

let fake: FakeProvider;
before(async () => {
  fake = await startFakeProvider();
});
after(() => fake.close());

const secret = 'topsecret-0123456789';
const hour = 3_600_000;
const price: Price = {
  ...{ inputPerMillion: '1', outputPerMillion: '2' },
  ...{ cacheReadPerMillion: null, cacheWritePerMillion: null },
};

function compatible(more: Partial<ProviderSettings> = {}): ProviderSettings {
  return { name: 'fake', kind: 'openai-compatible', apiKey: secret, baseURL: fake.url, ...more };
}

/** One call with the given stored provider. */
async function ask(
  call: Partial<ModelCall>,
  stored: ProviderSettings | null = compatible(),
  options: Partial<ModelsOptions & ModelSetup> = {},
) {
  const { price = null } = options;
  const models = createModels({
    open: openUnsealed,
    env: {},
    allowedHosts: [fake.host],
    ...options,
  });
  try {
    return await collectResponse(models, {
      executionId: 'exe',
      workspaceId: 'wsp',
      model: 'fake/any',
      setup: { provider: stored && unsealed(stored), price },
      system: null,
      user: 'hello',
      temperature: null,
      maxTokens: null,
      topP: null,
      timeoutMs: hour,
      called: false,
      signal: new AbortController().signal,
      ...call,
    });
  } finally {
    await models.close();
  }
}

async function failure(...args: Parameters<typeof ask>): Promise<ModelFailure> {
  const error = await ask(...args).then(
    () => assert.fail('the call succeeded'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof ModelFailure, String(error));
  return error;
}

test('a successful call', async () => {
  assert.partialDeepStrictEqual(await ask({ model: 'fake/any/model', system: 'Be brief.' }), {
    text: 'hello',
    usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
    finishReason: 'stop',
    settingsNotApplied: [],
    cost: { usd: '0', known: false },
    details: {
      ...{ ...noDetails, modelAnswered: 'any/model' },
      ...{ providerRequestId: 'chatcmpl-1', providerFinishReason: 'stop' },
    },
  });
  const sent = fake.calls.at(-1);
  assert.equal(sent?.path, '/v1/chat/completions');
  assert.equal(sent.model, 'any/model');
  assert.equal(sent.headers.authorization, `Bearer ${secret}`);
});

test('a truncated response is a success', async () => {
  const { text, finishReason } = await ask({ model: 'fake/length' });
  assert.deepEqual([text, finishReason], ['cut sho', 'length']);
});

test('a response without usage has an unknown cost, even at a known price', async () => {
  const answer = await ask({ model: 'fake/uncounted' }, compatible(), { price });
  assert.deepEqual(answer.cost, { usd: '0', known: false });
  assert.equal(answer.usage.inputTokens, 0);
  const counted = await ask({}, compatible(), { price });
  assert.deepEqual(counted.cost, { usd: '0.00002', known: true, source: 'workspace' });
});

describe('a provider misbehaves', () => {
  const cases: [model: string, code: string, retryable: boolean, costKnown: boolean][] = [
    ['unauthorized', 'PROVIDER_AUTH', false, true],
    ['forbidden', 'PROVIDER_AUTH', false, true],
    ['missing', 'MODEL_NOT_FOUND', false, true],
    ['rate-limited', 'PROVIDER_RATE_LIMITED', true, true],
    ['no-quota', 'PROVIDER_QUOTA', false, true],
    ['bad-request', 'PROVIDER_ERROR', false, true],
    ['too-long', 'CONTEXT_LENGTH', false, true],
    ['content-policy', 'CONTENT_FILTERED', false, true],
    ['filtered', 'CONTENT_FILTERED', false, false],
    ['refusing', 'CONTENT_FILTERED', false, false],
    ['broken-off', 'PROVIDER_ERROR', true, false],
    ['server-error', 'PROVIDER_ERROR', true, true],
    ['unavailable', 'PROVIDER_ERROR', true, true],
    ['overloaded', 'PROVIDER_ERROR', true, true],
    ['redirect', 'PROVIDER_ERROR', false, true],
    ['broken-json', 'PROVIDER_ERROR', false, false],
    ['no-choices', 'EMPTY_OUTPUT', true, false],
    ['mid-reset', 'PROVIDER_ERROR', true, false],
    ['reset', 'PROVIDER_ERROR', true, false],
  ];
  for (const [model, code, retryable, costKnown] of cases) {
    test(`${model} is ${code}${retryable ? ', retryable' : ''}`, async () => {
      const was = fake.calls.length;
      const failed = await failure({ model: `fake/${model}` });
      assert.deepEqual([failed.code, failed.retryable], [code, retryable]);
      assert.equal(failed.cost.known, costKnown);
      assert.equal(failed.retryAfterMs, model === 'rate-limited' ? 7_000 : 0);
      assert.equal(fake.calls.length, was + 1, 'one call is one request');
    });
  }

  test('a withheld or interrupted response has its cost, and its text is not revealed', async () => {
    for (const model of ['filtered', 'refusing', 'broken-off']) {
      const failed = await failure({ model: `fake/${model}` }, compatible(), { price });
      assert.deepEqual(failed.cost, { usd: '0.00002', known: true, source: 'workspace' });
      assert.deepEqual([failed.usage.inputTokens, failed.usage.outputTokens], [10, 5]);
      assert.match(
        failed.message,
        /^The provider (withheld the response|ended its response with an error)\.$/,
      );
    }
  });

  test('its message is redacted', async () => {
    fake.script(failing(401, `Key ${secret} (sent as Bearer ${secret}) is wrong`));
    const { message } = await failure({});
    assert.equal(message.includes(secret), false);
    assert.match(message, /^The provider answered 401: Key \[redacted\]/);
  });
});

describe('a call ends early', () => {
  for (const model of ['hang', 'silence']) {
    test(`by its timeout: ${model}`, async () => {
      const failed = await failure({ model: `fake/${model}`, timeoutMs: 20 });
      assert.deepEqual([failed.code, failed.retryable], ['MODEL_TIMEOUT', true]);
      assert.deepEqual(failed.cost, { usd: '0', known: false });
    });

    test(`by an abort, which rejects with its reason and closes the connection: ${model}`, async () => {
      const controller = new AbortController();
      const reason = new Error('canceled');
      const was = fake.calls.length;
      const pending = ask({ model: `fake/${model}`, signal: controller.signal });
      await fake.arrived(was + 1);
      controller.abort(reason);
      await assert.rejects(pending, reason);
      await fake.calls.at(was)?.hungUp;
    });
  }

  test('before it starts', async () => {
    const was = fake.calls.length;
    const signal = AbortSignal.abort(new Error('canceled'));
    await assert.rejects(ask({ signal }), { message: 'canceled' });
    await assert.rejects(ask({ signal, model: 'cueline/echo' }), { message: 'canceled' });
    assert.equal(fake.calls.length, was);
  });
});

describe('credentials', () => {
  const env = () => ({ OPENAI_API_KEY: 'server-key', OPENAI_BASE_URL: fake.url });

  test('come from the environment, whose base URL is trusted', async () => {
    await ask({ model: 'openai/gpt-4o' }, null, { env: env(), allowedHosts: [] });
    assert.equal(fake.calls.at(-1)?.headers.authorization, 'Bearer server-key');
  });

  test('of the workspace take precedence', async () => {
    const mine = compatible({ name: 'openai', kind: 'openai' });
    await ask({ model: 'openai/gpt-4o' }, mine, { env: env() });
    assert.equal(fake.calls.at(-1)?.headers.authorization, `Bearer ${secret}`);
  });

  test('of the server are never sent to a URL of the workspace', async () => {
    const was = fake.connections;
    const keyless = compatible({ name: 'openai', kind: 'openai', apiKey: null });
    const failed = await failure({ model: 'openai/gpt-4o' }, keyless, { env: env() });
    assert.equal(failed.code, 'PROVIDER_NOT_CONFIGURED');
    assert.equal(fake.connections, was);
  });

  test('are decrypted for each call', async () => {
    const opened: string[][] = [];
    const models = createModels({
      open: (workspaceId, name, stored) => {
        opened.push([workspaceId, name]);
        return openUnsealed(workspaceId, name, stored);
      },
      env: {},
      allowedHosts: [fake.host],
    });
    const call = {
      ...{ executionId: 'e', model: 'p/m', system: null, user: 'x', temperature: null },
      ...{ maxTokens: null, topP: null, timeoutMs: hour, called: false },
      signal: new AbortController().signal,
    };
    for (const workspaceId of ['one', 'two']) {
      const provider = unsealed(compatible({ apiKey: `key-${workspaceId}` }));
      await collectResponse(models, { ...call, workspaceId, setup: { provider, price: null } });
    }
    await models.close();
    assert.deepEqual(opened, [
      ['one', 'p'],
      ['two', 'p'],
    ]);
    const keys = fake.calls.slice(-2).map(({ headers }) => headers.authorization);
    assert.deepEqual(keys, ['Bearer key-one', 'Bearer key-two']);
  });

  test('that are missing are reported with the environment variable to set', async () => {
    const known = await failure({ model: 'anthropic/claude-opus-5' }, null);
    assert.equal(known.code, 'PROVIDER_NOT_CONFIGURED');
    assert.match(known.message, /'anthropic'.*ANTHROPIC_API_KEY/);
    const unknown = await failure({ model: 'nobody/m' }, null);
    assert.match(
      unknown.message,
      /^The provider 'nobody' is not configured: store its credentials/,
    );
  });

  test('that cannot be decrypted fail the call before it connects', async () => {
    const was = fake.connections;
    const closed = new ModelFailure('PROVIDER_NOT_CONFIGURED', 'store it again');
    const open = () => {
      throw closed;
    };
    assert.equal(await failure({}, compatible(), { open }), closed);
    assert.equal(fake.connections, was);
  });

  test('that are invalid in a header fail the call before it is sent', async () => {
    const was = fake.calls.length;
    const failed = await failure({}, compatible({ apiKey: 'line\nbreak' }));
    assert.deepEqual([failed.code, failed.retryable], ['PROVIDER_ERROR', false]);
    assert.equal(fake.calls.length, was);
  });
});

describe('a base URL of a workspace', () => {
  test('that is not allowed is never connected to', async () => {
    const was = fake.connections;
    const failed = await failure({}, compatible(), { allowedHosts: [] });
    assert.equal(failed.code, 'PROVIDER_NOT_CONFIGURED');
    assert.match(failed.message, /CUELINE_ALLOWED_HOSTS/);
    assert.equal(fake.connections, was);
  });

  test('that resolves to a private address is never connected to', async () => {
    const was = fake.connections;
    const port = fake.host.split(':')[1];
    const stored = compatible({ baseURL: `https://llm.example.com:${port}/v1` });
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const failed = await failure({}, stored, { allowedHosts: [], resolve });
    assert.deepEqual([failed.code, failed.retryable], ['PROVIDER_NOT_CONFIGURED', false]);
    assert.equal(fake.connections, was);
  });
});

describe('the built-in provider', () => {
  const echo = (call: Partial<ModelCall>) => ask(call, null);

  test('responds without a request', async () => {
    const answer = await echo({ model: 'cueline/echo?tokens=3' });
    assert.deepEqual([answer.text, answer.usage.outputTokens], ['hello', 3]);
    assert.deepEqual(answer.cost, { usd: '0', known: true, source: 'table' });
  });

  test('respects the timeout, at no cost', async () => {
    const late = { model: 'cueline/echo?delay=3600000', timeoutMs: 1 };
    const failed = await echo(late).catch((thrown) => thrown);
    assert.equal(failed.code, 'MODEL_TIMEOUT');
    assert.deepEqual(failed.cost, { usd: '0', known: true });
  });

  test('respects an abort', async () => {
    const controller = new AbortController();
    const pending = echo({ model: 'cueline/echo?delay=3600000', signal: controller.signal });
    controller.abort(new Error('canceled'));
    await assert.rejects(pending, { message: 'canceled' });
  });
});

describe('the URL of a file that the provider fetches itself', () => {
  const withFile = (value: string): Partial<ModelCall> => ({
    messages: [
      { role: 'user', content: [{ text: 'What?' }, { image: { variable: 'photo', value } }] },
    ],
  });
  const publicly = { resolve: resolvesTo('8.8.8.8') };

  test('is not passed on if it is private, however it is written', async () => {
    for (const url of [
      'https://127.0.0.1/a.png',
      'https://2130706433/a.png',
      'https://0x7f.1/a.png',
      'https://0177.0.0.1/a.png',
      'https://10.0.0.8/a.png',
      'https://169.254.169.254/latest/meta-data/a.png',
      'https://[::1]/a.png',
      'https://[::ffff:169.254.169.254]/a.png',
      'https://[fe80::1]/a.png',
      'https://localhost/a.png',
      'https://localhost./a.png',
      'https://metadata.google.internal/a.png',
      'https://metadata/a.png',
    ]) {
      const before = fake.calls.length;
      const failed = await failure(withFile(url), compatible(), publicly);
      assert.equal(failed.code, 'FILE_UNAVAILABLE', url);
      assert.match(failed.message, /variable "photo" is not at a public address/);
      assert.equal(failed.retryable, false);
      assert.equal(fake.calls.length, before);
    }
  });

  test('is not passed on if its name has a private address', async () => {
    for (const address of ['192.168.1.5', 'fd00::1', '169.254.169.254']) {
      const options = { resolve: resolvesTo('8.8.8.8', address) };
      const failed = await failure(withFile('https://cdn.example/a.png'), compatible(), options);
      assert.equal(failed.code, 'FILE_UNAVAILABLE', address);
    }
  });

  test('is passed on if it is public', async () => {
    await ask(withFile('https://cdn.example/a.png'), compatible(), publicly);
    assert.match(JSON.stringify(fake.calls.at(-1)?.body), /https:\/\/cdn\.example\/a\.png/);
  });
});
