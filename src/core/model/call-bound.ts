import type { CallSettings } from '../agent/call-settings.ts';
import type { PromptSize } from '../agent/prompt-size.ts';
import { ceilDecimal } from '../decimal.ts';
import type { ModelSetup } from './model-port.ts';

/**
 * The most that a call of a model may cost: a bound that is kept, not an estimate. No tokenizer counts: a token has at least one
 * byte. Each token has the dearest rate that may apply to it, and the sum is rounded up.
 */
export interface CallBound {
  readonly kind: 'bound';
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars as a decimal text with at most 10 places. */
  readonly usd: string;
}

/** A call whose cost has no bound that Cueline knows. */
export interface Unbounded {
  readonly kind: 'unbounded';
  /** What is wrong and what to do, as sentences. */
  readonly reason: string;
  /** The option of the agent, the version or the provider that is the reason; null if it is another one. */
  readonly option: string | null;
}

/** Looks up prices in memory. */
export interface PriceLookup {
  rates(call: PricedCall): ModelRates | Unbounded;
}

/** What the price of a call depends on beside its length. */
export interface PricedCall {
  readonly workspaceId: string;
  /** `provider/model` */
  readonly model: string;
  readonly setup: ModelSetup;
  readonly settings: CallSettings;
}

/** What is known about the price of a model, in units of 10^-24 dollars. */
export interface ModelRates {
  readonly kind: 'rates';
  /** The dearest rates of prompts of a length, without an order. At least one begins at 0. */
  readonly tiers: readonly RateTier[];
  readonly perRequest: bigint;
  /** Of an image; null if unknown. */
  readonly imageTokens: number | null;
  /** What the request of this model may allow beyond `maxTokens`: for its reasoning. */
  readonly reasoningTokens: number;
  /** UTF-8 bytes of the options that the request has beside its prompt. */
  readonly optionBytes: number;
}

export interface RateTier {
  /** Of prompts with more input tokens. */
  readonly above: number;
  /** Per million tokens. */
  readonly input: bigint;
  readonly output: bigint;
}

/** The output tokens of a call under a limit of cost whose agent has no `maxTokens`. */
export const defaultOutputTokens = 4_096;

const tokensPerMessage = 16;
/** What providers add to a prompt with tools, and how much longer than JSON they write them. */
const tokensOfTools = 700;
const toolBytesFactor = 1.25;

export function callBound(
  size: PromptSize,
  maxTokens: number,
  rates: ModelRates,
): CallBound | Unbounded {
  const { images, otherFile } = size;
  const { tiers, perRequest, imageTokens, reasoningTokens, optionBytes } = rates;
  const isFree = perRequest === 0n && tiers.every((one) => one.input === 0n && one.output === 0n);
  if (!isFree && otherFile !== null) return unknownFile(otherFile);
  if (!isFree && images > 0 && imageTokens === null) return unknownFile('image');
  const inputTokens = textTokens(size) + optionBytes + images * (imageTokens ?? 0);
  const outputTokens = maxTokens + reasoningTokens;
  const reached = tiers.filter(({ above }) => above === 0 || inputTokens > above);
  const dearest = (kind: 'input' | 'output') =>
    reached.reduce((most, { [kind]: rate }) => (rate > most ? rate : most), 0n);
  const units =
    BigInt(inputTokens) * dearest('input') +
    BigInt(outputTokens) * dearest('output') +
    perRequest * million;
  return { kind: 'bound', inputTokens, outputTokens, usd: ceilDecimal(units, million, usdPlaces) };
}

function textTokens({ textBytes, messages, toolBytes }: PromptSize): number {
  const tools = toolBytes === 0 ? 0 : Math.ceil(toolBytes * toolBytesFactor) + tokensOfTools;
  return textBytes + tokensPerMessage * messages + tools;
}

function unknownFile(what: string): Unbounded {
  const reason = `It is not known what one ${what} costs at most with this model, so no limit of cost can hold for it. Send it as text, or call without a limit of cost.`;
  return { kind: 'unbounded', reason, option: null };
}

const million = 1_000_000n;
/** Decimal places of `usd`. */
const usdPlaces = 10;
