import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallSettings } from '../../../src/core/agent/call-settings.ts';
import { kinds, wireRequests } from '../wire-request.ts';

/** What each provider kind gets of the settings of a call, and which of them the record reports as not applied. */

const everySetting: CallSettings = {
  reasoningEffort: 'low',
  stop: 'END',
  seed: 7,
  topK: 40,
  presencePenalty: 0.5,
  frequencyPenalty: -0.5,
  cachePrompt: true,
  serviceTier: 'flex',
};

const mark = { cache_control: { type: 'ephemeral' } };
const cacheKey = 'b1cc2ec6cf9f703cb021cb4787ba8de2';
const chatMessages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'hello' },
];

const bodies: Readonly<Record<keyof typeof kinds, { body: object; notApplied: string[] }>> = {
  responses: {
    body: {
      model: 'gpt-4o',
      store: false,
      prompt_cache_key: cacheKey,
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
      ],
    },
    notApplied: [
      ...['frequencyPenalty', 'presencePenalty', 'reasoningEffort', 'seed', 'serviceTier'],
      ...['stop', 'topK'],
    ],
  },
  chat: {
    body: {
      ...{ model: 'gpt-4o', messages: chatMessages, stop: ['END'], seed: 7 },
      ...{ presence_penalty: 0.5, frequency_penalty: -0.5, reasoning_effort: 'low' },
      prompt_cache_key: cacheKey,
    },
    notApplied: ['serviceTier', 'topK'],
  },
  anthropic: {
    body: {
      ...{ model: 'claude-sonnet-4-5', max_tokens: 64_000, stop_sequences: ['END'] },
      thinking: { type: 'enabled', budget_tokens: 6_400 },
      system: [{ type: 'text', text: 'Be brief.', ...mark }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
    },
    notApplied: ['frequencyPenalty', 'presencePenalty', 'seed', 'serviceTier', 'topK'],
  },
  google: {
    body: {
      generationConfig: {
        ...{ topK: 40, stopSequences: ['END'], seed: 7 },
        thinkingConfig: { thinkingBudget: 6_554 },
      },
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
      serviceTier: 'flex',
    },
    notApplied: ['cachePrompt', 'frequencyPenalty', 'presencePenalty'],
  },
  bedrock: {
    body: {
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
      messages: [{ role: 'user', content: [{ text: 'hello' }] }],
      inferenceConfig: { stopSequences: ['END'], maxTokens: 10_496 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 6_400 } },
      additionalModelResponseFieldPaths: ['/delta/stop_sequence'],
      serviceTier: { type: 'flex' },
    },
    notApplied: ['frequencyPenalty', 'presencePenalty', 'seed', 'topK'],
  },
  compatible: {
    body: {
      ...{ model: 'm', messages: chatMessages, stop: ['END'], seed: 7, top_k: 40 },
      ...{ presence_penalty: 0.5, frequency_penalty: -0.5, reasoning_effort: 'low' },
      service_tier: 'flex',
    },
    notApplied: ['cachePrompt'],
  },
};

describe('every setting', () => {
  for (const [name, { body, notApplied }] of Object.entries(bodies)) {
    test(name, async () => {
      const { settings, model } = kinds[name as keyof typeof kinds];
      const call = { system: 'Be brief.', settings: everySetting };
      const { sent, generated } = await wireRequests(settings, model, call);
      assert.deepEqual(sent[0]?.body, body);
      assert.deepEqual(generated.settingsNotApplied, notApplied);
    });
  }
});

test('a model that reasons gets the effort through the Responses API', async () => {
  const { sent, generated } = await wireRequests({}, 'gpt-5', { settings: everySetting });
  assert.equal(sent[0]?.body.reasoning.effort, 'low');
  assert.ok(!generated.settingsNotApplied.includes('reasoningEffort'));
});

describe('providerOptions', () => {
  const options: Record<string, [keyof typeof kinds, CallSettings, object]> = {
    OpenAI: [
      'responses',
      { providerOptions: { openai: { safetyIdentifier: 'abc', store: true } } },
      { safety_identifier: 'abc', store: true },
    ],
    Anthropic: [
      'anthropic',
      { providerOptions: { anthropic: { metadata: { userId: 'u' } } } },
      { metadata: { user_id: 'u' } },
    ],
    Google: [
      'google',
      { providerOptions: { google: { cachedContent: 'cachedContents/1' } } },
      { cachedContent: 'cachedContents/1' },
    ],
    Bedrock: [
      'bedrock',
      { providerOptions: { bedrock: { guardrailConfig: { guardrailIdentifier: 'g' } } } },
      { guardrailConfig: { guardrailIdentifier: 'g' } },
    ],
    'a compatible server by its own name': [
      'compatible',
      { topK: 3, providerOptions: { p: { min_p: 0.1 } } },
      { top_k: 3, min_p: 0.1 },
    ],
    'a compatible server by the name of its kind': [
      'compatible',
      { providerOptions: { 'openai-compatible': { min_p: 0.1, top_k: 2 } }, topK: 3 },
      { top_k: 2, min_p: 0.1 },
    ],
  };
  for (const [name, [kind, settings, expected]] of Object.entries(options)) {
    test(name, async () => {
      const { sent } = await wireRequests(kinds[kind].settings, kinds[kind].model, { settings });
      const body = sent[0]?.body ?? {};
      for (const [field, value] of Object.entries(expected)) {
        assert.deepEqual(body[field], value, JSON.stringify(body));
      }
    });
  }

  test('of another provider change nothing', async () => {
    const settings = { providerOptions: { anthropic: { metadata: { userId: 'u' } } } };
    const { sent } = await wireRequests({}, 'gpt-4o', { settings });
    const plain = await wireRequests({}, 'gpt-4o', {});
    assert.deepEqual(sent[0]?.body, plain.sent[0]?.body);
  });
});

test('a setting that the server rejects is left out, then and later', async () => {
  const { settings, model } = kinds.compatible;
  const call = { settings: { seed: 7, topK: 40 }, temperature: 0.5 };
  const { sent, generated, ask } = await wireRequests(settings, model, call, (body) => {
    const field = ['seed', 'top_k'].find((name) => name in body);
    if (!field) return null;
    const error = { message: `Unrecognized request argument supplied: ${field}`, param: null };
    return Response.json({ error }, { status: 400 });
  });
  assert.deepEqual(
    sent.map(({ body }) => [body.seed, body.top_k, body.temperature]),
    [
      [7, 40, 0.5],
      [undefined, 40, 0.5],
      [undefined, undefined, 0.5],
    ],
  );
  assert.deepEqual(generated.settingsNotApplied, ['seed', 'topK']);
  assert.deepEqual((await ask()).settingsNotApplied, ['seed', 'topK']);
  assert.equal(sent.length, 4);
});

test('the cache of a conversation ends with its last message', async () => {
  const { settings, model } = kinds.anthropic;
  const call = { settings: { cachePrompt: true } };
  const { sent } = await wireRequests(settings, model, call);
  assert.deepEqual(sent[0]?.body.messages, [
    { role: 'user', content: [{ type: 'text', text: 'hello', ...mark }] },
  ]);
});
