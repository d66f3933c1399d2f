import { wordSet } from '../../core/words.ts';
import type { Answer } from '../port/model.ts';
import { type Fields, fieldsOf, listOf } from './join-events.ts';
import { rawUsage } from './response-details.ts';

/**
 * Tokens that have a rate of their own at some providers, by the name of that rate in the price list. They are part of the
 * counts of `Usage`: one-hour cache writes of those written to the cache, cached audio of those read from it, and so on.
 */
export const rates = {
  cacheWrite: ['cache_write_1h_mtok'],
  cacheRead: ['cache_audio_read_mtok', 'cache_image_read_mtok', 'cache_video_read_mtok'],
  input: ['input_audio_mtok', 'input_image_mtok', 'input_video_mtok'],
  output: ['output_audio_mtok', 'output_image_mtok', 'output_video_mtok'],
} as const;
export type RatedTokens = Readonly<
  Partial<Record<(typeof rates)[keyof typeof rates][number], number>>
>;

/** What a price depends on beside the four counts of `Usage`. */
export interface Rated {
  readonly tokens: RatedTokens;
  /** Whether the whole call may have another rate than the list's: a service tier, a region, a tool of the provider. */
  readonly isUnlisted: boolean;
}

export const plainRates: Rated = { tokens: {}, isUnlisted: false };

/** The tokens with rates of their own in a response of any API. */
export function ratedOf(answer: Answer, cacheReadTokens: number): Rated {
  const usage = fieldsOf(rawUsage(answer));
  const inputDetails = [
    merged(usage.prompt_tokens_details, usage.input_tokens_details),
    ...[usage.promptTokensDetails, usage.toolUsePromptTokensDetails],
  ];
  const outputDetails = [
    merged(usage.completion_tokens_details, usage.output_tokens_details),
    usage.candidatesTokensDetails,
  ];
  const cacheDetails = [
    usage.cacheTokensDetails,
    ...inputDetails.map((details) => fieldsOf(details).cached_tokens_details),
  ];
  const [input, output, read] = [inputDetails, outputDetails, cacheDetails].map(countByMedium);
  const tokens: Record<string, number> = { cache_write_1h_mtok: hourWrites(usage) };
  for (const medium of media) {
    const cached = read?.[medium] ?? 0;
    tokens[`cache_${medium}_read_mtok`] = cached;
    tokens[`input_${medium}_mtok`] = (input?.[medium] ?? 0) - cached;
    tokens[`output_${medium}_mtok`] = output?.[medium] ?? 0;
  }
  // Nobody tells how much of the audio was cached.
  const isMixed = cacheReadTokens > 0 && !cacheDetails.some(Boolean) && hasMedia(input);
  return { tokens, isUnlisted: isMixed || isOtherTier(answer, usage) };
}

/** Gateways send the same details under the names of both of OpenAI's APIs. What only one of them has counts too. */
function merged(chat: unknown, responses: unknown): Fields {
  const [first, second] = [fieldsOf(chat), fieldsOf(responses)];
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  const values = [...names].map((name) => {
    const [a, b] = [first[name], second[name]];
    if (typeof a === 'number' && typeof b === 'number') return [name, Math.max(a, b)];
    const isNested = typeof a === 'object' && typeof b === 'object';
    return [name, isNested ? merged(a, b) : (a ?? b)];
  });
  return Object.fromEntries(values);
}

const media = ['audio', 'image', 'video'] as const;
type Medium = (typeof media)[number];
type MediaCounts = Record<Medium, number>;

/** From objects with `audio_tokens`, and from Google's lists. */
function countByMedium(details: readonly unknown[]): MediaCounts {
  const count = (medium: Medium) =>
    details.reduce<number>((sum, each) => {
      const listed = listOf(each).filter(({ modality }) => modality === medium.toUpperCase());
      const named = fieldsOf(each)[`${medium}_tokens`];
      return sum + [named, ...listed.map((one) => one.tokenCount)].reduce(add, 0);
    }, 0);
  return { audio: count('audio'), image: count('image'), video: count('video') };
}

function add(sum: number, count: unknown): number {
  return Number.isInteger(count) && Number(count) > 0 ? sum + Number(count) : sum;
}

function hasMedia(counts: MediaCounts | undefined): boolean {
  return Object.values(counts ?? {}).some((count) => count > 0);
}

/** Writes to the cache that live for an hour: Anthropic, gateways to it, Bedrock. */
function hourWrites(usage: Fields): number {
  const { prompt_tokens_details: details, cacheDetails } = usage;
  const places = [usage.cache_creation, fieldsOf(details).cache_creation_token_details];
  const named = places.map((place) => fieldsOf(place).ephemeral_1h_input_tokens);
  const listed = listOf(cacheDetails).filter(({ ttl }) => ttl === '1h');
  const [first] = named.filter((count) => typeof count === 'number');
  return [first, ...listed.map(({ inputTokens }) => inputTokens)].reduce(add, 0);
}

/** The list has the rates of the usual tier, in any region, without searches. */
function isOtherTier({ response }: Answer, usage: Fields): boolean {
  const body = fieldsOf(response?.body);
  const tier =
    usage.service_tier ??
    body.service_tier ??
    fieldsOf(body.serviceTier).type ??
    response?.headers?.['x-gemini-service-tier'];
  const { web_search_requests: searches } = fieldsOf(usage.server_tool_use);
  return (
    otherTiers.has(String(tier).toLowerCase()) ||
    usage.speed === 'fast' ||
    /flex|priority|provisioned/i.test(String(usage.trafficType)) ||
    usage.inference_geo === 'us' ||
    (typeof searches === 'number' && searches > 0)
  );
}

const otherTiers = wordSet('flex priority batch fast ultrafast scale reserved');
