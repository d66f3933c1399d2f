import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProviderKind } from '../../src/core/model/provider.ts';
import { candidate, chat, generated, response } from './generated.ts';

/** How answers end: as the provider says, and where it says nothing that is known, by whether there is any text. */

const gateway = { baseURL: 'https://gateway.example/v1' };

async function ending(kind: ProviderKind, answer: object, settings = {}) {
  const { finishReason, providerError } = await generated({ kind, ...settings }, answer);
  assert.equal(providerError, null);
  return finishReason;
}

describe('a chat completion', () => {
  const empty = { message: { role: 'assistant', content: '' } };
  const cases: [reason: string | null, withText: string, empty: string][] = [
    ['stop', 'stop', 'stop'],
    ['length', 'length', 'length'],
    ['tool_calls', 'tool-calls', 'tool-calls'],
    ['content_filter', 'content-filter', 'content-filter'],
    ['error', 'error', 'error'],
    ['ABORT', 'error', 'error'],
    ['failed', 'error', 'error'],
    ['insufficient_system_resource', 'error', 'error'],
    ['sensitive', 'content-filter', 'content-filter'],
    ['model_length', 'length', 'length'],
    ['eos', 'stop', 'stop'],
    ['whatever', 'other', 'error'],
    [null, 'other', 'error'],
  ];
  for (const [finish_reason, withText, without] of cases) {
    test(`of reason ${finish_reason}`, async () => {
      for (const kind of ['openai', 'openai-compatible'] as const) {
        const of = (more = {}) => ending(kind, chat(null, { finish_reason, ...more }), gateway);
        assert.deepEqual([await of(), await of(empty)], [withText, without]);
      }
    });
  }

  test('with an error beside what was written until then', async () => {
    const error = { code: 502, message: 'Upstream died' };
    for (const kind of ['openai', 'openai-compatible'] as const) {
      for (const reason of ['error', 'stop']) {
        const answer = chat(null, { finish_reason: reason, error });
        const { finishReason, providerError } = await generated({ kind, ...gateway }, answer);
        assert.deepEqual([finishReason, providerError], ['error', error]);
      }
    }
  });
});

test('a chat completion with a field for errors in which nothing stands', async () => {
  for (const error of [{}, { code: 0, message: '' }, { code: null, type: null }]) {
    const answer = chat(null, { finish_reason: 'stop', error });
    assert.equal(await ending('openai-compatible', { ...answer, error }, gateway), 'stop');
  }
});

describe('an answer of Google', () => {
  const cases: [reason: string, withText: string, empty: string][] = [
    ['STOP', 'stop', 'stop'],
    ['MAX_TOKENS', 'length', 'length'],
    ['SAFETY', 'content-filter', 'content-filter'],
    ['MODEL_ARMOR', 'content-filter', 'content-filter'],
    ['OTHER', 'other', 'error'],
    ['LANGUAGE', 'other', 'error'],
    ['MISSING_THOUGHT_SIGNATURE', 'other', 'error'],
  ];
  for (const [reason, withText, without] of cases) {
    test(`of reason ${reason}`, async () => {
      const of = (text: string) => ending('google', candidate(null, text, reason));
      assert.deepEqual([await of('hi'), await of('')], [withText, without]);
    });
  }

  test('without any candidate', async () => {
    for (const answer of [{ candidates: [] }, { usageMetadata: { promptTokenCount: 10 } }]) {
      assert.equal(await ending('google', answer), 'error');
    }
  });
});

test('an answer of Bedrock that the model spoilt, or that filled its context', async () => {
  const of = (stopReason: string) =>
    ending('bedrock', {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      stopReason,
      usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12 },
    });
  assert.equal(await of('malformed_model_output'), 'error');
  assert.equal(await of('model_context_window_exceeded'), 'length');
});

test('a response of OpenAI that has not come to its end, without saying why', async () => {
  for (const status of ['failed', 'cancelled', 'in_progress', 'queued']) {
    assert.equal(await ending('openai', response({ status, error: null })), 'error', status);
  }
  const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  assert.equal(await ending('openai', response(cut)), 'length');
});
