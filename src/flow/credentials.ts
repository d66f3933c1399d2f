import { ModelFailure } from '../core/model.ts';
import { type ProviderKind, sealOwner } from '../core/provider.ts';
import { unseal } from '../core/seal.ts';
import type { Db } from '../store/db.ts';
import { findProviderSettings, type ProviderSettingsRow } from '../store/providers.ts';
import { readTogether } from './read-together.ts';

/** A provider as a model call needs it, its credential opened. */
export interface OpenProvider {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly apiKey: string | null;
  readonly baseURL: string | null;
}

export interface CredentialsParts {
  readonly db: Db;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  /** Told of a credential that does not open: the server's secret is another than when it was stored. */
  readonly onUnreadable: (provider: { workspaceId: string; name: string }) => void;
}

/**
 * What a workspace has stored under a provider's name, read for each call; null where it has nothing. A credential
 * that does not open is not as good as none: the server's own would be used in its stead.
 */
export function createCredentials({ db, sealKey, onUnreadable }: CredentialsParts) {
  const read = readTogether(db, findProviderSettings);
  return async (workspaceId: string, name: string): Promise<OpenProvider | null> => {
    const row = await read(workspaceId, name);
    if (!row) return null;
    const apiKey = open(row);
    if (apiKey !== undefined) return { name, kind: row.kind, apiKey, baseURL: row.baseURL };
    onUnreadable({ workspaceId, name });
    throw new ModelFailure(
      'PROVIDER_NOT_CONFIGURED',
      `The credential of provider '${name}' cannot be read: store it again.`,
    );

    function open({ id, sealedApiKey }: ProviderSettingsRow): string | null | undefined {
      if (sealedApiKey === null) return null;
      try {
        return unseal(sealKey, sealedApiKey, sealOwner({ workspaceId, id }));
      } catch {
        return undefined;
      }
    }
  };
}
