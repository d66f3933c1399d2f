import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProviderEnv } from '../../../src/core/model/provider.ts';
import { fromEnvironment, ownOllama } from '../../../src/models/connection/environment.ts';
import {
  complete,
  type ProviderSettings,
  priceList,
} from '../../../src/models/connection/settings.ts';

const own = 'http://127.0.0.1:11434';

describe('settings from the environment', () => {
  const cases: [string, ProviderEnv, string | null, string | null][] = [
    ['openai', {}, null, null],
    ['openai', { OPENAI_API_KEY: '' }, null, null],
    ['openai', { OPENAI_API_KEY: ' ' }, null, null],
    ['openai', { OPENAI_BASE_URL: 'http://x' }, null, null],
    ['openai', { OPENAI_API_KEY: 'k' }, 'k', 'https://api.openai.com/v1'],
    ['openai', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://x/v1' }, 'k', 'http://x/v1'],
    ['anthropic', { ANTHROPIC_API_KEY: ' k ' }, 'k', 'https://api.anthropic.com/v1'],
    ['anthropic', { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://x' }, 'k', 'http://x/v1'],
    [
      'anthropic',
      { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://x/y/' },
      'k',
      'http://x/y/v1',
    ],
    [
      'anthropic',
      { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://x/v1/' },
      'k',
      'http://x/v1',
    ],
    [
      'anthropic',
      { ANTHROPIC_API_KEY: 'Bearer k', ANTHROPIC_BASE_URL: 'http://x/v1/messages' },
      'k',
      'http://x/v1',
    ],
    ['google', { GEMINI_API_KEY: 'k' }, 'k', 'https://generativelanguage.googleapis.com/v1beta'],
    [
      'google',
      { GEMINI_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'l' },
      'l',
      'https://generativelanguage.googleapis.com/v1beta',
    ],
    [
      'azure',
      { AZURE_API_KEY: 'k', AZURE_RESOURCE_NAME: 'r' },
      'k',
      'https://r.openai.azure.com/openai/v1',
    ],
    [
      'azure',
      { AZURE_API_KEY: 'k', AZURE_BASE_URL: 'https://r.openai.azure.com/' },
      'k',
      'https://r.openai.azure.com/openai/v1',
    ],
    [
      'bedrock',
      { AWS_BEARER_TOKEN_BEDROCK: 'k' },
      'k',
      'https://bedrock-runtime.us-east-1.amazonaws.com',
    ],
    [
      'bedrock',
      { AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'eu-west-1' },
      'i:s',
      'https://bedrock-runtime.eu-west-1.amazonaws.com',
    ],
    [
      'bedrock',
      { AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't' },
      'i:s:t',
      'https://bedrock-runtime.us-east-1.amazonaws.com',
    ],
    ['bedrock', { AWS_ACCESS_KEY_ID: 'i', AWS_SESSION_TOKEN: 't' }, null, null],
    ['openrouter', { OPENROUTER_API_KEY: 'k' }, 'k', 'https://openrouter.ai/api/v1'],
    ['groq', { GROQ_API_KEY: 'k' }, 'k', 'https://api.groq.com/openai/v1'],
    ['mistral', { MISTRAL_API_KEY: 'k' }, 'k', 'https://api.mistral.ai/v1'],
    ['deepseek', { DEEPSEEK_API_KEY: 'k' }, 'k', 'https://api.deepseek.com/v1'],
    ['xai', { XAI_API_KEY: 'k' }, 'k', 'https://api.x.ai/v1'],
    ['OpenAI', { OPENAI_API_KEY: 'k' }, null, null],
    ['constructor', { OPENAI_API_KEY: 'k' }, null, null],
    ['__proto__', { OPENAI_API_KEY: 'k' }, null, null],
  ];
  for (const [name, env, apiKey, baseURL] of cases) {
    test(`${name} from ${JSON.stringify(env)}`, () => {
      const settings = fromEnvironment(env, name);
      if (apiKey === null) return assert.equal(settings, null);
      assert.ok(settings);
      const connection = complete(settings, true, own);
      assert.deepEqual([connection.apiKey, connection.baseURL], [apiKey, baseURL]);
    });
  }
});

describe('the URL of Ollama', () => {
  const cases: [ProviderEnv, string][] = [
    [{}, 'http://127.0.0.1:11434'],
    [{ OLLAMA_HOST: '' }, 'http://127.0.0.1:11434'],
    [{ OLLAMA_HOST: '0.0.0.0' }, 'http://127.0.0.1:11434'],
    [{ OLLAMA_HOST: '0.0.0.0:8080' }, 'http://127.0.0.1:8080'],
    [{ OLLAMA_HOST: ':8080' }, 'http://127.0.0.1:8080'],
    [{ OLLAMA_HOST: '[::]:8080' }, 'http://127.0.0.1:8080'],
    [{ OLLAMA_HOST: '[::1]' }, 'http://[::1]:11434'],
    [{ OLLAMA_HOST: 'gpu.lan' }, 'http://gpu.lan:11434'],
    [{ OLLAMA_HOST: 'http://gpu.lan:80/' }, 'http://gpu.lan:80'],
    [{ OLLAMA_HOST: 'https://gpu.lan' }, 'https://gpu.lan:443'],
    [{ OLLAMA_BASE_URL: 'http://gpu.lan:1234' }, 'http://gpu.lan:1234'],
    [{ OLLAMA_BASE_URL: 'http://gpu.lan:1234/v1/' }, 'http://gpu.lan:1234/v1'],
    [{ OLLAMA_BASE_URL: 'http://gpu.lan:1234/api' }, 'http://gpu.lan:1234'],
    [{ OLLAMA_BASE_URL: 'http://gpu.lan:1234/api/chat/' }, 'http://gpu.lan:1234'],
    [{ OLLAMA_BASE_URL: 'http://gpu.lan:1234/v1/chat/completions' }, 'http://gpu.lan:1234/v1'],
    [{ OLLAMA_BASE_URL: 'http://a:1', OLLAMA_HOST: 'b' }, 'http://a:1'],
  ];
  for (const [env, baseURL] of cases) {
    test(`${JSON.stringify(env)} is ${baseURL}`, () => {
      const settings = fromEnvironment(env, 'ollama');
      assert.ok(settings);
      assert.equal(complete(settings, true, ownOllama(env)).baseURL, baseURL);
    });
  }
});

const stored = (more: Partial<ProviderSettings>): ProviderSettings => ({
  name: 'mine',
  kind: 'openai',
  apiKey: null,
  baseURL: null,
  ...more,
});

describe('a provider of a workspace', () => {
  for (const kind of ['openai', 'anthropic', 'google', 'azure', 'bedrock'] as const) {
    test(`of kind ${kind} needs a key`, () => {
      assert.throws(() => complete(stored({ kind }), false, own), {
        code: 'PROVIDER_NOT_CONFIGURED',
      });
    });
  }
  for (const settings of [
    stored({ kind: 'azure', apiKey: 'k' }),
    stored({ kind: 'azure', apiKey: 'k', name: 'groq' }),
    stored({ kind: 'openai-compatible', apiKey: 'k' }),
  ]) {
    test(`of kind ${settings.kind} named ${settings.name} needs a base URL`, () => {
      assert.throws(() => complete(settings, false, own), /needs a baseURL/);
    });
  }

  test('is not trusted, except the server’s own Ollama', () => {
    const trusted = (more: Partial<ProviderSettings>) => complete(stored(more), false, own).trusted;
    assert.equal(trusted({ apiKey: 'k' }), false);
    assert.equal(trusted({ kind: 'ollama', baseURL: 'http://127.0.0.1:11434' }), false);
    assert.equal(trusted({ kind: 'ollama' }), true);
  });
});

test('prices are found by kind, otherwise by URL', () => {
  const list = (more: Partial<ProviderSettings>, model = 'm') =>
    priceList(complete(stored({ apiKey: 'k', ...more }), false, own), model);
  assert.deepEqual(list({}), { provider: 'openai' });
  assert.deepEqual(list({ baseURL: 'https://gateway.example/v1' }), { provider: 'openai' });
  assert.deepEqual(list({ kind: 'bedrock' }), { provider: 'aws' });
  assert.deepEqual(list({ kind: 'openai-compatible', baseURL: 'https://h/v1' }), {
    url: 'https://h/v1',
  });
  assert.equal(list({ kind: 'ollama', apiKey: null }), 'free');
  assert.equal(list({ kind: 'ollama' }), 'unknown');
  assert.equal(list({ kind: 'ollama', apiKey: null }, 'gpt-oss:120b-cloud'), 'unknown');
});
