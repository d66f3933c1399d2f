import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ModelFailure } from '../../../src/core/model/model-port.ts';
import { type ProviderKind, providerKinds } from '../../../src/core/model/provider.ts';
import { languageModel } from '../../../src/models/adapters/language-model.ts';
import { complete } from '../../../src/models/connection/settings.ts';
import { generate } from '../../../src/models/generate.ts';

/** The URL of a call for the model, or the code of its refusal. */
async function target(kind: ProviderKind, model: string): Promise<string> {
  const baseURL = 'https://h.example/own/v1';
  const sent: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    sent.push(new URL(String(input)).href);
    throw new Error('not sent');
  };
  const call = { system: null, user: 'hi', temperature: null, maxTokens: null, topP: null };
  try {
    const connection = complete({ name: 'p', kind, apiKey: 'key', baseURL }, false, baseURL);
    const ready = await languageModel(connection, model, fetch);
    await generate(ready, call, new AbortController().signal);
  } catch (error) {
    if (error instanceof ModelFailure) return error.code;
  }
  assert.equal(sent.length, 1);
  return String(sent[0]);
}

const unsafePath = [
  'a/../../../admin/steal?x=',
  '../x',
  'x/..',
  '..',
  '.',
  'models/./x',
  'a//b',
  '/x',
  'x/',
  'a\\..\\..\\b',
  'a/%2e%2E/b',
  'a%2f..',
  'x?alt=sse&x=',
  'x#',
];

for (const kind of providerKinds) {
  describe(`${kind} rejects or escapes the path`, () => {
    for (const model of unsafePath) {
      test(model, async () => {
        const modelInPath = kind === 'google' || kind === 'bedrock';
        const expected = modelInPath ? 'MODEL_NOT_FOUND' : await target(kind, 'm');
        assert.equal(await target(kind, model), expected);
      });
    }
  });
}

describe('a name with slashes', () => {
  const base = 'https://h.example/own/v1';
  const cases: [ProviderKind, string, string][] = [
    ['google', 'gemini-2.5-pro', `${base}/models/gemini-2.5-pro:generateContent`],
    ['google', 'models/x', `${base}/models/x:generateContent`],
    ['google', 'tunedModels/x-1', `${base}/tunedModels/x-1:generateContent`],
    ['google', 'a..b/c.d', `${base}/a..b/c.d:generateContent`],
    ['openai-compatible', 'meta-llama/x:free', `${base}/chat/completions`],
    ['bedrock', 'us.vendor.x-v1:0', `${base}/model/us.vendor.x-v1%3A0/converse`],
    [
      'bedrock',
      'arn:aws:bedrock:us-east-1:1:inference-profile/x',
      `${base}/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse`,
    ],
  ];
  for (const [kind, model, url] of cases) {
    test(`${kind}: ${model}`, async () => assert.equal(await target(kind, model), url));
  }
});
