import type { Usage } from '../../core/model/model-port.ts';
import type { Counts } from '../port/model.ts';

/**
 * Attempts of an execution are summed and stored as an `integer`. A count beyond this, a hundred times what any model
 * reads, is a server's mistake and counts as unknown.
 */
const countMax = 100_000_000;

/** `null` unless every count is valid: part of a usage would be priced as if it were all of it. */
export function usageOf(counts: Counts): Usage | null {
  const whole = Object.values(counts).every(
    (count) => Number.isInteger(count) && Number(count) >= 0 && Number(count) <= countMax,
  );
  return whole ? (counts as Usage) : null;
}

/**
 * The usage of chat completions, in the server's own form. Unlike in the AI SDK's reading, a missing number is unknown,
 * not 0. Reasoning that a server leaves out of `completion_tokens` but counts in `total_tokens` (xAI, Google) is
 * output, because it is billed as such.
 */
export function countChat(usage: unknown): Counts {
  const input = numberAt(usage, 'prompt_tokens', 'input_tokens');
  const details = at(usage, 'prompt_tokens_details');
  const read =
    numberAt(details, 'cached_tokens') ??
    // DeepSeek, Moonshot, gateways to Anthropic
    numberAt(usage, 'prompt_cache_hit_tokens', 'cached_tokens', 'cache_read_input_tokens') ??
    0;
  const write =
    numberAt(details, 'cache_write_tokens', 'cache_creation_tokens') ??
    numberAt(usage, 'cache_creation_input_tokens', 'cache_creation_tokens') ??
    0;
  // Gateways to Anthropic leave cached tokens out of the prompt and count them in the total.
  const all = input === undefined || read <= input ? input : input + read;
  return {
    inputTokens: input,
    outputTokens: larger(
      numberAt(usage, 'completion_tokens', 'output_tokens'),
      less(numberAt(usage, 'total_tokens'), all),
    ),
    cacheReadTokens: read,
    cacheWriteTokens: write,
  };
}

/** The usage of the Responses API, likewise. */
export function countResponses(usage: unknown): Counts {
  return {
    inputTokens: numberAt(usage, 'input_tokens'),
    outputTokens: numberAt(usage, 'output_tokens'),
    cacheReadTokens: numberAt(at(usage, 'input_tokens_details'), 'cached_tokens') ?? 0,
    cacheWriteTokens: 0,
  };
}

/** Google's usage, likewise. It leaves out zeros, so either part of the output, or the total, determines both. */
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

/** The usage of Anthropic and Bedrock, whose input leaves out cached tokens. */
export function countPartial(usage: unknown): Counts {
  const read = numberAt(usage, 'cache_read_input_tokens', 'cacheReadInputTokens') ?? 0;
  const write = numberAt(usage, 'cache_creation_input_tokens', 'cacheWriteInputTokens') ?? 0;
  const input = numberAt(usage, 'input_tokens', 'inputTokens');
  return {
    inputTokens: input === undefined ? input : input + read + write,
    outputTokens: numberAt(usage, 'output_tokens', 'outputTokens'),
    cacheReadTokens: read,
    cacheWriteTokens: write,
  };
}

function less(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || total < part ? undefined : total - part;
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** The first of these fields that is a number. */
function numberAt(value: unknown, ...names: readonly string[]): number | undefined {
  const found = names.map((name) => at(value, name)).find((each) => typeof each === 'number');
  return found as number | undefined;
}

function at(value: unknown, name: string): unknown {
  return (value as Record<string, unknown> | null | undefined)?.[name];
}
