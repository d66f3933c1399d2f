import {
  calcPrice,
  findProvider,
  type ModelInfo,
  type ModelPrice,
  type PriceOptions,
} from '@pydantic/genai-prices';
import { floatToUnits, toDecimal, toUnits } from '../../core/decimal.ts';
import type { ModelRates } from '../../core/model/call-bound.ts';
import { type Cost, noCost, type Usage, unknownCost } from '../../core/model/model-port.ts';
import type { ListedPrice, Price } from '../../core/model/price.ts';
import { wordSet } from '../../core/words.ts';
import { plainRates, type Rated, type RatedTokens, rates } from './rated-tokens.ts';

/**
 * The cost of a call: tokens × price. The price comes from the workspace's own list. Without one, a cost that the
 * provider states counts, else the price of the price library, whose
 * data is part of the package and never fetched. The library's own sum is a float; here it is computed exactly, by the
 * same rules. Cached tokens are part of the input and are billed at their own price. The whole input selects the tier.
 * Without a cache price, cached tokens cost as much as others.
 */

/** Where a price is looked up. */
export type PriceList =
  /** A provider of the library, such as `openai` or `aws`. */
  | { readonly provider: string }
  /** The provider of the library with this URL, if any. */
  | { readonly url: string }
  /** A machine of one's own: known to cost nothing. */
  | 'free'
  | 'unknown';

/** Decimal places of `usd`. */
const usdPlaces = 10;
/** Decimal places of a price. */
const pricePlaces = 12;

/** `usage` is `null` if the provider reported none: then only a free model has a known cost. */
export function cost(
  list: PriceList,
  model: string,
  usage: Usage | null,
  price: Price | null,
  at: Date,
  { stated = null, rated = plainRates }: { stated?: Cost | null; rated?: Rated } = {},
): Cost {
  if (price === null && stated !== null) return stated;
  const source = price ? 'workspace' : 'table';
  const origin = { source, ...(price?.id !== undefined && { priceId: price.id }) } as const;
  const prices = price ? configured(price) : listed(list, model, usage?.inputTokens ?? 0, at);
  if (prices === null) return unknownCost;
  if (isZero(prices)) return { ...noCost, ...origin };
  if (usage === null || (price === null && rated.isUnlisted)) return unknownCost;
  // A provider that excludes cached tokens from its input count must not make the rest negative.
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens;
  const counts = {
    input: Math.max(usage.inputTokens - cached, 0),
    cacheRead: usage.cacheReadTokens,
    cacheWrite: usage.cacheWriteTokens,
    output: usage.outputTokens,
  };
  let total = prices.request * million;
  for (const kind of kinds) {
    const sum = priceOf(kind, counts[kind], prices, rated.tokens);
    if (sum === null) return unknownCost;
    total += sum;
  }
  return { usd: toDecimal(total, million, usdPlaces), known: true, ...origin };
}

const kinds = ['input', 'cacheRead', 'cacheWrite', 'output'] as const;

/** Of the tokens of one kind, with those that have a rate of their own; null if such a rate is unknown. */
function priceOf(
  kind: (typeof kinds)[number],
  count: number,
  prices: Prices,
  rated: RatedTokens,
): bigint | null {
  let others = count;
  let total = 0n;
  for (const name of rates[kind]) {
    const tokens = rated[name] ?? 0;
    if (tokens === 0) continue;
    const rate = prices.others[name];
    others -= tokens;
    // Counts that contradict each other.
    if (rate === undefined || tokens < 0 || others < 0) return null;
    total += BigInt(tokens) * rate;
  }
  return total + BigInt(others) * prices[kind];
}

/** More is a server's mistake. */
const statedUsdMax = 100_000;

/** The cost that a provider states in its usage, in US dollars (OpenRouter); null if it states none. */
export function statedCost(usage: unknown): Cost | null {
  const { cost: given } = Object(usage) as { cost?: unknown };
  const amount = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  if (typeof amount !== 'number' || !(amount >= 0 && amount <= statedUsdMax)) return null;
  const units = floatToUnits(amount);
  if (units === null) return null;
  return { usd: toDecimal(units, 1n, usdPlaces), known: true, source: 'provider' };
}

/** Prices in units of 10^-24 dollars: per million tokens, and per request. */
interface Prices {
  readonly input: bigint;
  readonly output: bigint;
  readonly cacheRead: bigint;
  readonly cacheWrite: bigint;
  readonly request: bigint;
  /** Of other kinds of tokens, as far as known. */
  readonly others: Partial<Record<keyof RatedTokens, bigint>>;
}

const million = 1_000_000n;

/** How a call may be charged for, beside the lengths of its prompt and of its answer. */
export interface RatedCall {
  readonly at: Date;
  /** Whether the provider may write to a cache that lives for an hour. */
  readonly cachesHour: boolean;
}

/** The dearest rates of a model in each of its tiers; null if its price is not known. */
export function dearestRates(
  list: PriceList,
  model: string,
  price: Price | null,
  { at, cachesHour }: RatedCall,
): Pick<ModelRates, 'tiers' | 'perRequest'> | null {
  const entry = price === null ? entryOf(list, model, at) : null;
  const starts = new Set(entry ? [0, ...entry.lists.flatMap(tierStarts)] : [0]);
  const priced = [...starts].flatMap((above) => {
    const tokens = above === 0 ? 0 : above + 1;
    const all = price
      ? [configured(price)]
      : entry
        ? entry.lists.map((one) => inList(entry, one, tokens))
        : [list === 'free' ? free : null];
    return all.map((prices) => ({ above, prices }));
  });
  const tiers = priced.flatMap(({ above, prices }) =>
    prices ? [{ above, request: prices.request, ...dearestOf(prices, cachesHour) }] : [],
  );
  if (tiers.length < priced.length) return null;
  return { tiers, perRequest: tiers.map(({ request }) => request).reduce(larger) };
}

function dearestOf({ others, ...prices }: Prices, cachesHour: boolean) {
  const dearest = (names: readonly (keyof RatedTokens)[], ...usual: bigint[]) =>
    names.reduce((most, name) => larger(most, others[name] ?? 0n), usual.reduce(larger));
  const hour = cachesHour ? rates.cacheWrite : [];
  const { input, cacheRead, cacheWrite, output } = prices;
  return {
    input: dearest(['input_image_mtok', ...hour], input, cacheRead, cacheWrite),
    output: dearest(rates.output, output),
  };
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function tierStarts(prices: ModelPrice): number[] {
  return Object.values(prices).flatMap((price) =>
    typeof price === 'object' ? price.tiers.map(({ start }) => start) : [],
  );
}

function configured(price: Price): Prices | null {
  const input = toUnits(price.inputPerMillion);
  const output = toUnits(price.outputPerMillion);
  const cacheRead = toUnits(price.cacheReadPerMillion ?? price.inputPerMillion);
  const cacheWrite = toUnits(price.cacheWritePerMillion ?? price.inputPerMillion);
  if (input === null || output === null || cacheRead === null || cacheWrite === null) return null;
  return { input, output, cacheRead, cacheWrite, request: 0n, others: {} };
}

function listed(list: PriceList, model: string, inputTokens: number, at: Date): Prices | null {
  if (list === 'free') return free;
  const entry = entryOf(list, model, at);
  return entry?.lists[0] ? inList(entry, entry.lists[0], inputTokens) : null;
}

/** What the models of a list cost now, in its lowest tier. Leaves out those that are withdrawn or have no known price. */
export function listedPrices(list: PriceList, at: Date): ListedPrice[] {
  const provider = typeof list === 'string' ? undefined : findProvider(inLibrary(list));
  if (!provider) return [];
  return provider.models.flatMap((model) => {
    // Only prices that change are looked up: a search takes as long as there are models.
    const now = Array.isArray(model.prices)
      ? findEntry(model.id, { provider: { ...provider, models: [model] } }, at)?.lists[0]
      : model.prices;
    const prices = now && !model.deprecated && inList({ found: model, isGoogle: false }, now, 0);
    return prices ? [{ model: model.id, ...toTexts(prices) }] : [];
  });
}

function toTexts({ input, output, cacheRead, cacheWrite }: Prices): Price {
  const text = (units: bigint) => toDecimal(units, 1n, pricePlaces);
  return {
    inputPerMillion: text(input),
    outputPerMillion: text(output),
    cacheReadPerMillion: text(cacheRead),
    cacheWritePerMillion: text(cacheWrite),
  };
}

/** The entry of a model in the library. */
interface Entry {
  readonly found: ModelInfo;
  /** The prices of now, then those of other times of the day. */
  readonly lists: readonly ModelPrice[];
  readonly isGoogle: boolean;
}

function entryOf(list: PriceList, model: string, at: Date): Entry | null {
  if (typeof list === 'string') return null;
  return findEntry(model.replace(/^models\//, ''), inLibrary(list), at);
}

function inLibrary(list: Exclude<PriceList, string>): PriceOptions {
  return 'provider' in list ? { providerId: list.provider } : { providerApiUrl: list.url };
}

function findEntry(name: string, where: PriceOptions, at: Date): Entry | null {
  // Without usage: only the entry is needed, not the library's sum.
  const entry = calcPrice({}, name, { ...where, timestamp: at });
  if (!entry) return null;
  const { model: found, model_price: now } = entry;
  const daily = Array.isArray(found.prices)
    ? found.prices.filter(({ constraint }) => constraint?.type === 'time_of_date')
    : [];
  const lists = [now, ...daily.map(({ prices }) => prices)];
  return { found, lists, isGoogle: where.providerId === 'google' };
}

type Listed = Pick<Entry, 'found' | 'isGoogle'>;

function inList({ found, isGoogle }: Listed, prices: ModelPrice, inputTokens: number) {
  const isFreeModel = pricesIn(prices).length === 0 && isFree(found);
  return isFreeModel ? free : fromEntry(prices, inputTokens, isGoogle);
}

/** A model without a price in the library is unknown, not free; the library marks free ones in a comment. */
function isFree({ id, name = '', price_comments: comments = '' }: ModelInfo): boolean {
  return id.endsWith(':free') || /\(free\)$/i.test(name) || /\bfree of charge\b/i.test(comments);
}

function pricesIn(entry: ModelPrice): string[] {
  return Object.keys(entry).filter((name) => entry[name] !== undefined);
}

/**
 * `null` if the entry cannot price a text exactly: a direction has no price, or it charges for something that usage
 * does not count.
 */
function fromEntry(entry: ModelPrice, inputTokens: number, isGoogle: boolean): Prices | null {
  if (!pricesIn(entry).every((name) => counted.has(name) || nonTextCharges.test(name))) return null;
  const at = (name: string) => inTier(entry[name], inputTokens);
  const input = at('input_mtok');
  const output = at('output_mtok');
  if (input === null || output === null) return null;
  const cacheRead = at('cache_read_mtok') ?? input;
  // Google has one rate for texts, images and videos that a model reads.
  const shared = isGoogle && {
    input_image_mtok: input,
    input_video_mtok: input,
    cache_image_read_mtok: cacheRead,
    cache_video_read_mtok: cacheRead,
  };
  const listed = Object.values(rates)
    .flat()
    .flatMap((name) => {
      const rate = at(name);
      return rate === null ? [] : [[name, rate]];
    });
  return {
    input,
    output,
    cacheRead,
    cacheWrite: at('cache_write_mtok') ?? input,
    request: (at('requests_kcount') ?? 0n) / 1_000n,
    others: { ...shared, ...Object.fromEntries(listed) },
  };
}

function isZero({ others, ...prices }: Prices): boolean {
  return [...Object.values(prices), ...Object.values(others)].every((price) => price === 0n);
}

const free: Prices = {
  input: 0n,
  output: 0n,
  cacheRead: 0n,
  cacheWrite: 0n,
  request: 0n,
  others: {},
};

const counted = wordSet('input_mtok output_mtok cache_read_mtok cache_write_mtok requests_kcount');
/** Charges for other kinds of tokens, and for what a call without tools of the provider does not use. */
const nonTextCharges = /audio|image|video|document|search|cache_write_1h/;

/** The price at this many input tokens: that of the last tier that begins below them. */
function inTier(price: ModelPrice[string], inputTokens: number): bigint | null {
  if (price === undefined) return null;
  if (typeof price === 'number') return floatToUnits(price);
  const tiers = price.tiers.toSorted((a, b) => a.start - b.start);
  return floatToUnits(tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base);
}
