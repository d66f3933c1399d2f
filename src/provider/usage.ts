import type { Usage } from '../core/model/model-port.ts';

/** What a provider counted; `undefined` where it named no number. */
export type Counts = { readonly [K in keyof Usage]: number | undefined };

/**
 * All attempts of a run are added up and stored as an `integer`. A count beyond this, a hundred times what any
 * model reads, is a server's mistake, and unknown.
 */
const countMax = 100_000_000;

/** `null` unless all of it can be a count: half of a usage would be priced as if it were the whole. */
export function usageOf(counts: Counts): Usage | null {
  const whole = Object.values(counts).every(
    (count) => Number.isInteger(count) && Number(count) >= 0 && Number(count) <= countMax,
  );
  return whole ? (counts as Usage) : null;
}

/**
 * The usage of chat completions, in the server's own form. Unlike in the AI SDK's reading, a number that is not there
 * stays unknown and is not 0; and reasoning that a server leaves out of `completion_tokens` but counts in
 * `total_tokens` (xAI, Google) is output, for it is paid as such.
 */
export function countChat(usage: unknown): Counts {
  const input = numberAt(usage, 'prompt_tokens');
  const details = at(usage, 'prompt_tokens_details');
  const read = numberAt(details, 'cached_tokens') ?? 0;
  // Gateways before Anthropic leave out of the prompt what was cached, and count it in the sum.
  const all = input === undefined || read <= input ? input : input + read;
  return {
    inputTokens: input,
    outputTokens: larger(
      numberAt(usage, 'completion_tokens'),
      less(numberAt(usage, 'total_tokens'), all),
    ),
    cacheReadTokens: read,
    cacheWriteTokens: numberAt(details, 'cache_write_tokens') ?? 0,
  };
}

/** Google's usage, likewise. It leaves out what is 0, so either part of the output, or the sum, tells of both. */
export function countGoogle(usage: unknown): Counts {
  const prompt = numberAt(usage, 'promptTokenCount');
  const input =
    prompt === undefined ? prompt : prompt + (numberAt(usage, 'toolUsePromptTokenCount') ?? 0);
  const answer = numberAt(usage, 'candidatesTokenCount');
  const thoughts = numberAt(usage, 'thoughtsTokenCount');
  const named =
    answer === undefined && thoughts === undefined ? undefined : (answer ?? 0) + (thoughts ?? 0);
  return {
    inputTokens: input,
    outputTokens: larger(named, less(numberAt(usage, 'totalTokenCount'), input)),
    cacheReadTokens: numberAt(usage, 'cachedContentTokenCount') ?? 0,
    cacheWriteTokens: 0,
  };
}

function less(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || total < part ? undefined : total - part;
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

function numberAt(value: unknown, name: string): number | undefined {
  const found = at(value, name);
  return typeof found === 'number' ? found : undefined;
}

function at(value: unknown, name: string): unknown {
  return (value as Record<string, unknown> | null | undefined)?.[name];
}
