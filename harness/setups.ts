import type { ModelSetup } from '../src/core/model/model-port.ts';
import type { StoredProvider } from '../src/core/model/provider.ts';
import type { ProviderSettings } from '../src/provider/settings.ts';

/** Model setups without a database; their credentials are not sealed. */

export const emptySetup: ModelSetup = { provider: null, price: null };

export function unsealed({
  kind,
  apiKey,
  baseURL,
}: Omit<ProviderSettings, 'name'>): StoredProvider {
  return { id: 'any', kind, sealedApiKey: apiKey === null ? null : Buffer.from(apiKey), baseURL };
}

export function openUnsealed(
  _workspaceId: string,
  name: string,
  { kind, sealedApiKey, baseURL }: StoredProvider,
): ProviderSettings {
  return { name, kind, apiKey: sealedApiKey?.toString() ?? null, baseURL };
}
