import { ModelFailure } from '../../core/model/model-port.ts';
import { type ProviderKind, type StoredProvider, sealOwner } from '../../core/model/provider.ts';
import { unseal } from '../../core/seal.ts';

/** A provider as a model call needs it, its credential opened. */
export interface OpenProvider {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly apiKey: string | null;
  readonly baseURL: string | null;
}

export interface CredentialsDeps {
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  /** Told of a credential that does not open: the server's secret is another than when it was stored. */
  readonly onUnreadable: (provider: { workspaceId: string; name: string }) => void;
}

/**
 * Opens what a workspace has stored under a provider's name. A credential that does not open is not as good as none: the
 * server's own would be used in its stead.
 */
export function createCredentials({ sealKey, onUnreadable }: CredentialsDeps) {
  return (workspaceId: string, name: string, stored: StoredProvider): OpenProvider => {
    const { id, kind, sealedApiKey, baseURL } = stored;
    try {
      const apiKey = sealedApiKey && unseal(sealKey, sealedApiKey, sealOwner({ workspaceId, id }));
      return { name, kind, apiKey, baseURL };
    } catch {
      onUnreadable({ workspaceId, name });
      throw new ModelFailure(
        'PROVIDER_NOT_CONFIGURED',
        `The credential of provider '${name}' cannot be read: store it again.`,
      );
    }
  };
}
