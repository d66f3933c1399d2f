import type { CallSettings, ReasoningEffort } from '../core/agent/call-settings.ts';
import {
  findDearerOption,
  findUnboundedOption,
  hasHourCache,
  unboundedMessage,
} from '../core/agent/unbounded-options.ts';
import { LruCache } from '../core/lru-cache.ts';
import type { ModelRates, PricedCall, PriceLookup, Unbounded } from '../core/model/call-bound.ts';
import { ModelFailure, splitModelName } from '../core/model/model-port.ts';
import type { ProviderKind } from '../core/model/provider.ts';
import { type ConnectionOptions, connectionsOf } from './connection/connections-of.ts';
import type { Connection } from './connection/provider-connection.ts';
import { priceList } from './connection/settings.ts';
import { dearestRates, type PriceList } from './response/prices.ts';

/**
 * The rates by which the bound of a call is computed: those that its cost would have (`response/prices.ts`), each at its dearest.
 * Everything is in memory: admission looks them up while rows are locked.
 */
export function createPriceLookup(options: ConnectionOptions): PriceLookup {
  const connectionOf = connectionsOf(options);
  const connectionFor = ({ workspaceId, setup }: PricedCall, provider: string) => {
    try {
      return provider === 'cueline' ? null : connectionOf(workspaceId, provider, setup.provider);
    } catch (error) {
      if (error instanceof ModelFailure) return error;
      throw error;
    }
  };
  const cache = new LruCache<Listed>(cachedRatesMax);
  const listed: typeof dearestRates = (...lookedUp) => {
    const [list, model, price, { at, cachesHour }] = lookedUp;
    // What the library changes by date or by the time of the day changes at an hour.
    const hour = Math.floor(at.getTime() / hourMs);
    const amounts = price && { ...price, id: undefined };
    const key = JSON.stringify([list, model, amounts, cachesHour, hour]);
    return cache.getOrCreate(key, () => ({ rates: dearestRates(...lookedUp) })).rates;
  };
  return {
    rates: (call) => {
      const { provider, model } = splitModelName(call.model);
      return ratesOf(call, model, connectionFor(call, provider), listed);
    },
  };
}

interface Listed {
  readonly rates: ReturnType<typeof dearestRates>;
}

const cachedRatesMax = 1_000;
const hourMs = 3_600_000;

/** @param connection null for the built-in model; why there is none for a provider that is not configured */
function ratesOf(
  { model: name, setup: { price }, settings }: PricedCall,
  model: string,
  connection: Connection | ModelFailure | null,
  listed: typeof dearestRates,
): ModelRates | Unbounded {
  const reached = connection instanceof ModelFailure ? null : connection;
  const { providerOptions, serviceTier, reasoningEffort } = settings;
  const { bodyExtra } = reached ?? {};
  // Most calls have none, and this runs while rows are locked.
  const passed = providerOptions || bodyExtra ? { providerOptions, bodyExtra } : null;
  const unbounded = passed && findUnboundedOption(passed);
  if (unbounded !== null) return unboundedBy(unbounded);
  if (reached?.kind === 'bedrock' && ignoresLimit(model, reasoningEffort)) {
    return unboundedBy('reasoningEffort');
  }
  if (price === null && connection instanceof ModelFailure) {
    return unpriced(`${unknownPrice(name)} ${connection.message}`);
  }
  const dearer = passed || serviceTier ? findDearerOption({ serviceTier, ...passed }) : null;
  if (price === null && dearer !== null) {
    return unpriced(`The price list has no rate for the option "${dearer}". ${setPrice(name)}`);
  }
  const list: PriceList = reached ? priceList(reached, model) : 'free';
  const cachesHour = hasHourCache(passed);
  const found = listed(list, model, price, { at: new Date(), cachesHour });
  if (found === null) return unpriced(unknownPrice(name));
  return {
    ...{ kind: 'rates', ...found },
    imageTokens: reached && (imageTokens.get(reached.kind) ?? null),
    reasoningTokens: reached ? reasoningTokens(reached.kind, model, settings) : 0,
    optionBytes: bytesOf(providerOptions) + bytesOf(bodyExtra),
  };
}

function bytesOf(options: object = {}): number {
  return Object.keys(options).length === 0 ? 0 : Buffer.byteLength(JSON.stringify(options));
}

function unboundedBy(option: string): Unbounded {
  return { kind: 'unbounded', reason: unboundedMessage(option), option };
}

function unpriced(reason: string): Unbounded {
  return { kind: 'unbounded', reason, option: null };
}

function unknownPrice(model: string): string {
  return `The price of ${model} is not known. ${setPrice(model)}`;
}

function setPrice(model: string): string {
  return `Set one with PUT /api/v1/prices {"model":${JSON.stringify(model)},"inputPerMillion":…,"outputPerMillion":…}, or in the dashboard under Settings, Providers.`;
}

/**
 * The most tokens of one image: of OpenAI's models, those of gpt-4o-mini; of Google's, 16 tiles. Compatible servers and Bedrock have
 * models of many vendors.
 */
const imageTokens: ReadonlyMap<ProviderKind, number> = new Map([
  ['openai', 50_000],
  ['azure', 50_000],
  ['anthropic', 5_000],
  ['google', 5_000],
]);

/** The packages for Anthropic and Bedrock add the budget of the model's thinking to `maxTokens`, except where it adapts itself. */
function reasoningTokens(
  kind: ProviderKind,
  model: string,
  { reasoningEffort = 'none', providerOptions }: CallSettings,
): number {
  if (kind !== 'anthropic' && kind !== 'bedrock') return 0;
  if (model.includes('claude-') && !budgetThinking.test(model)) return 0;
  const budget = Math.round(thinkingShares[reasoningEffort] * thinkingTokensMax);
  const isAsked = reasoningEffort !== 'none' || providerOptions !== undefined;
  return isAsked ? Math.max(thinkingTokensMin, budget) : 0;
}

const budgetThinking = /claude-(\d|instant|v\d|(sonnet|opus|haiku)-4(?!-[6-9]))/;
const thinkingShares: Readonly<Record<ReasoningEffort, number>> = {
  ...{ none: 0, minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.9 },
};
const thinkingTokensMax = 64_000;
const thinkingTokensMin = 1_024;

/** The package for Bedrock leaves the limit out. */
function ignoresLimit(model: string, effort: ReasoningEffort | undefined): boolean {
  return model.includes('nova-2') && (effort === 'high' || effort === 'xhigh');
}
