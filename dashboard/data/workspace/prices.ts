import type { PriceInput } from '../../../src/client/index.ts';
import { resource } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

export const prices = resource('prices', 'Price', cueline.prices);

/** What the built-in table says for the models of a provider. */
export const builtInPricesQuery = (provider: string) =>
  prices.query(['built-in', provider], (options) => cueline.prices.builtIn(provider, options));

export const setPrice = prices.action((price: PriceInput) => cueline.prices.put(price));

/** Whether a price is what an unknown cost lacks: the usage is known, and built-in models are free. */
export function lacksPrice(used: {
  readonly model?: string | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}): boolean {
  const { model = '', inputTokens = 0, outputTokens = 0 } = used;
  return inputTokens + outputTokens > 0 && !model.startsWith('cueline/');
}
