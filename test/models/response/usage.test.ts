import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProviderSettings } from '../../../src/models/connection/settings.ts';
import { candidate, chat, generated } from '../generated.ts';

/** Token counts of providers: if one of them is missing, the whole usage is unknown. */

const counted = (inputTokens: number, outputTokens: number, read = 0, write = 0) => ({
  ...{ inputTokens, outputTokens, cacheReadTokens: read, cacheWriteTokens: write },
});
type Case = [string, object | null, ReturnType<typeof counted> | null];

describe('usage of chat completions', () => {
  const baseURL = 'https://h.example/v1';
  const settings: Partial<ProviderSettings>[] = [
    { kind: 'openai-compatible', baseURL },
    { kind: 'openai', baseURL },
    { kind: 'azure', baseURL },
  ];
  const full = { prompt_tokens: 10, completion_tokens: 5 };
  const cases: Case[] = [
    ['input and output', full, counted(10, 5)],
    ['with a total', { ...full, total_tokens: 15 }, counted(10, 5)],
    ['cache reads', { ...full, prompt_tokens_details: { cached_tokens: 4 } }, counted(10, 5, 4)],
    [
      'cache writes',
      { ...full, prompt_tokens_details: { cache_write_tokens: 3 } },
      counted(10, 5, 0, 3),
    ],
    ['cache reads of DeepSeek', { ...full, prompt_cache_hit_tokens: 4 }, counted(10, 5, 4)],
    ['cache reads of Moonshot', { ...full, cached_tokens: 4 }, counted(10, 5, 4)],
    [
      'caches of Anthropic behind LiteLLM',
      {
        ...{ prompt_tokens: 2_000, completion_tokens: 5, total_tokens: 2_005 },
        prompt_tokens_details: { cached_tokens: 900, cache_creation_tokens: 1_000 },
        ...{ cache_creation_input_tokens: 1_000, cache_read_input_tokens: 900 },
      },
      counted(2_000, 5, 900, 1_000),
    ],
    ['names of the Responses API', { input_tokens: 10, output_tokens: 5 }, counted(10, 5)],
    ['zeros', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, null],
    ['reasoning in the total only', { ...full, total_tokens: 35 }, counted(10, 25)],
    ['a total that is too small', { ...full, total_tokens: 1 }, counted(10, 5)],
    [
      'cache reads in the total only',
      { ...full, total_tokens: 1_015, prompt_tokens_details: { cached_tokens: 1_000 } },
      counted(10, 5, 1_000),
    ],
    ['only the total', { prompt_tokens: 10, total_tokens: 15 }, counted(10, 5)],
    ['only the input', { prompt_tokens: 10 }, null],
    ['only the output', { completion_tokens: 5 }, null],
    ['nulls', { prompt_tokens: null, completion_tokens: null }, null],
    ['an empty object', {}, null],
    ['no usage', null, null],
    ['a negative count', { prompt_tokens: -1, completion_tokens: 5 }, null],
    ['a fractional count', { prompt_tokens: 1.5, completion_tokens: 5 }, null],
    ['a count above the limit', { prompt_tokens: 1e12, completion_tokens: 5 }, null],
  ];
  for (const [what, usage, expected] of cases) {
    test(what, async () => {
      for (const one of settings) {
        assert.deepEqual((await generated(one, chat(usage))).usage, expected, String(one.kind));
      }
    });
  }
});

describe('usage of Google', () => {
  const full = { promptTokenCount: 10, candidatesTokenCount: 5 };
  const cases: Case[] = [
    ['input and output', full, counted(10, 5)],
    [
      'thoughts, tools and cache reads',
      {
        ...{ ...full, thoughtsTokenCount: 3, toolUsePromptTokenCount: 2 },
        ...{ cachedContentTokenCount: 4, totalTokenCount: 20 },
      },
      counted(12, 8, 4),
    ],
    ['only thoughts', { promptTokenCount: 10, thoughtsTokenCount: 3 }, counted(10, 3)],
    ['thoughts in the total only', { ...full, totalTokenCount: 35 }, counted(10, 25)],
    ['input and total', { promptTokenCount: 10, totalTokenCount: 10 }, counted(10, 0)],
    ['only the total', { totalTokenCount: 50 }, null],
    ['only the input', { promptTokenCount: 10 }, null],
    ['only the output', { candidatesTokenCount: 5 }, null],
    ['an empty object', {}, null],
    ['no usage', null, null],
  ];
  for (const [what, usage, expected] of cases) {
    test(what, async () => {
      assert.deepEqual(
        (await generated({ kind: 'google' }, candidate(usage, 'hi'))).usage,
        expected,
      );
    });
  }
});
