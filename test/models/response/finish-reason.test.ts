import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProviderKind } from '../../../src/core/model/provider.ts';
import { candidate, chat, generated, response } from '../generated.ts';

/** Finish reasons: mapped from the provider's value; an unknown value is decided by whether the text is empty. */

const gateway = { baseURL: 'https://gateway.example/v1' };

async function finishReasonOf(kind: ProviderKind, body: object, settings = {}) {
  const { finishReason, providerError } = await generated({ kind, ...settings }, body);
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
    ['ABORT', 'other', 'error'],
    ['failed', 'error', 'error'],
    ['insufficient_system_resource', 'error', 'error'],
    ['sensitive', 'content-filter', 'content-filter'],
    ['refusal', 'content-filter', 'content-filter'],
    ['SAFETY', 'content-filter', 'content-filter'],
    ['RECITATION', 'content-filter', 'content-filter'],
    ['guardrail_intervened', 'content-filter', 'content-filter'],
    ['model_length', 'length', 'length'],
    ['MAX_TOKENS', 'length', 'length'],
    ['max_output_tokens', 'length', 'length'],
    ['STOP', 'stop', 'stop'],
    ['eos', 'stop', 'stop'],
    ['whatever', 'other', 'error'],
    [null, 'other', 'error'],
  ];
  for (const [finish_reason, withText, without] of cases) {
    test(`with reason ${finish_reason}`, async () => {
      for (const kind of ['openai', 'openai-compatible'] as const) {
        const of = (more = {}) =>
          finishReasonOf(kind, chat(null, { finish_reason, ...more }), gateway);
        assert.deepEqual([await of(), await of(empty)], [withText, without]);
      }
    });
  }

  test('with an error and partial text', async () => {
    const error = { code: 502, message: 'Upstream died' };
    for (const kind of ['openai', 'openai-compatible'] as const) {
      for (const reason of ['error', 'stop']) {
        const body = chat(null, { finish_reason: reason, error });
        const { finishReason, providerError } = await generated({ kind, ...gateway }, body);
        assert.deepEqual([finishReason, providerError], ['error', error]);
      }
    }
  });
});

test('a chat completion with an empty error field', async () => {
  for (const error of [{}, { code: 0, message: '' }, { code: null, type: null }]) {
    const body = chat(null, { finish_reason: 'stop', error });
    assert.equal(await finishReasonOf('openai-compatible', { ...body, error }, gateway), 'stop');
  }
});

describe('a response of Google', () => {
  const cases: [reason: string, withText: string, empty: string][] = [
    ['STOP', 'stop', 'stop'],
    ['MAX_TOKENS', 'length', 'length'],
    ['SAFETY', 'content-filter', 'content-filter'],
    ['MODEL_ARMOR', 'content-filter', 'content-filter'],
    ['OTHER', 'other', 'error'],
    ['LANGUAGE', 'other', 'error'],
    ['MISSING_THOUGHT_SIGNATURE', 'other', 'error'],
    ['MALFORMED_FUNCTION_CALL', 'other', 'other'],
  ];
  for (const [reason, withText, without] of cases) {
    test(`with reason ${reason}`, async () => {
      const of = (text: string) => finishReasonOf('google', candidate(null, text, reason));
      assert.deepEqual([await of('hi'), await of('')], [withText, without]);
    });
  }

  test('without candidates', async () => {
    for (const body of [{ candidates: [] }, { usageMetadata: { promptTokenCount: 10 } }]) {
      assert.equal(await finishReasonOf('google', body), 'error');
    }
  });
});

test('a response of Bedrock with malformed output or a full context', async () => {
  const of = (stopReason: string) =>
    finishReasonOf('bedrock', {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      stopReason,
      usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12 },
    });
  assert.equal(await of('malformed_model_output'), 'error');
  assert.equal(await of('model_context_window_exceeded'), 'length');
});

test('an unfinished response of OpenAI without a reason', async () => {
  for (const status of ['failed', 'cancelled', 'in_progress', 'queued']) {
    assert.equal(
      await finishReasonOf('openai', response({ status, error: null })),
      'error',
      status,
    );
  }
  const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  assert.equal(await finishReasonOf('openai', response(cut)), 'length');
});

describe("the provider's own word", () => {
  const word = async (kind: ProviderKind, body: object, settings = {}) =>
    (await generated({ kind, ...settings }, body)).details.providerFinishReason;

  test('of chat completions, known or not', async () => {
    for (const reason of ['stop', 'eos', 'MAX_TOKENS', 'repetition', 'content_filter', null]) {
      const body = chat(null, { finish_reason: reason });
      for (const kind of ['openai', 'openai-compatible'] as const) {
        assert.equal(await word(kind, body, gateway), reason);
      }
    }
  });

  test('of the Responses API: the reason why it is incomplete, else the status', async () => {
    const incomplete = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    };
    assert.equal(await word('openai', response(incomplete)), 'max_output_tokens');
    assert.equal(await word('openai', response({ status: 'completed' })), 'completed');
  });

  test('of Anthropic, Google and Bedrock', async () => {
    const message = {
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'c', stop_reason: 'pause_turn' },
      ...{ content: [{ type: 'text', text: 'hi' }], usage: { input_tokens: 1, output_tokens: 1 } },
    };
    assert.equal(await word('anthropic', message), 'pause_turn');
    assert.equal(await word('google', candidate(null, 'hi', 'LANGUAGE')), 'LANGUAGE');
    const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
    assert.equal(await word('google', blocked), 'PROHIBITED_CONTENT');
    const conversation = {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      ...{
        stopReason: 'stop_sequence',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      },
    };
    assert.equal(await word('bedrock', conversation), 'stop_sequence');
  });

  test('of Ollama, also beside a call of a tool', async () => {
    const call = { function: { name: 'f', arguments: {} } };
    const body = { model: 'm', done: true, message: { content: 'hi', tool_calls: [call] } };
    const own = { apiKey: null, baseURL: 'http://127.0.0.1:11434' };
    assert.equal(await word('ollama', { ...body, done_reason: 'stop' }, own), 'stop');
    assert.equal(await word('ollama', body, own), 'tool_calls');
  });
});
