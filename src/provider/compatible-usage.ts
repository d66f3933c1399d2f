import type { createOpenAICompatible } from '@ai-sdk/openai-compatible';

type ConvertUsage = NonNullable<Parameters<typeof createOpenAICompatible>[0]['convertUsage']>;

/**
 * What an OpenAI-compatible server counted. Unlike the AI SDK's own reading, a number that is not there stays unknown
 * and is not 0; and reasoning that a server leaves out of `completion_tokens` but counts in `total_tokens` (xAI, Google)
 * is output, for it is paid as such.
 */
export const countCompatible: ConvertUsage = (usage) => {
  const input = usage?.prompt_tokens ?? undefined;
  const completion = usage?.completion_tokens ?? undefined;
  const rest = (usage?.total_tokens ?? Number.NaN) - (input ?? Number.NaN);
  const output = rest > (completion ?? -1) ? rest : completion;
  const read = usage?.prompt_tokens_details?.cached_tokens ?? undefined;
  const write = usage?.prompt_tokens_details?.cache_write_tokens;
  return {
    inputTokens: {
      total: input,
      noCache: undefined,
      cacheRead: read,
      cacheWrite: typeof write === 'number' ? write : undefined,
    },
    outputTokens: {
      total: output,
      text: undefined,
      reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? undefined,
    },
  };
};
