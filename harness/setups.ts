import type { PriceLookup } from '../src/core/model/call-bound.ts';
import type { ModelSetup } from '../src/core/model/model-port.ts';
import type { StoredProvider } from '../src/core/model/provider.ts';
import { noExtras } from '../src/core/model/request-extras.ts';
import type { ProviderSettings } from '../src/models/connection/settings.ts';
import { createPriceLookup } from '../src/models/price-lookup.ts';

/** Model setups without a database; their credentials are not sealed. */

export const emptySetup: ModelSetup = { provider: null, price: null };

export function unsealed({
  kind,
  apiKey,
  baseURL,
  extras = noExtras,
  organization = null,
  project = null,
  auth = null,
}: Omit<ProviderSettings, 'name'>): StoredProvider {
  return {
    ...{ id: 'any', kind, baseURL, organization, project, auth },
    sealedApiKey: apiKey === null ? null : Buffer.from(apiKey),
    sealedExtras: Buffer.from(JSON.stringify(extras)),
  };
}

export function openUnsealed(
  _workspaceId: string,
  name: string,
  { kind, sealedApiKey, sealedExtras, baseURL, organization, project, auth }: StoredProvider,
): ProviderSettings {
  const extras = sealedExtras === null ? noExtras : JSON.parse(sealedExtras.toString());
  const apiKey = sealedApiKey?.toString() ?? null;
  return { name, kind, apiKey, baseURL, extras, organization, project, auth };
}

/** Prices of the built-in table, for providers of `unsealed`. */
export const prices: PriceLookup = createPriceLookup({
  ...{ open: openUnsealed, env: {}, allowedHosts: [] },
});
