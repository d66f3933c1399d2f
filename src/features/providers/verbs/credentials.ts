import { ModelFailure } from '../../../core/model/model-port.ts';
import {
  type ProviderAuth,
  type ProviderKind,
  type StoredProvider,
  sealExtrasOwner,
  sealOwner,
} from '../../../core/model/provider.ts';
import { noExtras, type RequestExtras } from '../../../core/model/request-extras.ts';
import { unseal } from '../../../core/seal.ts';

/** A provider with its decrypted credential. */
export interface OpenProvider {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly apiKey: string | null;
  readonly baseURL: string | null;
  readonly extras: RequestExtras;
  readonly organization: string | null;
  readonly project: string | null;
  readonly auth: ProviderAuth | null;
}

export interface CredentialsDeps {
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  /** A credential cannot be decrypted, because the server's secret has changed since it was stored. */
  readonly onUnreadable: (provider: { workspaceId: string; name: string }) => void;
}

/**
 * Decrypts the stored credential of a provider. Failure is an error, not a missing credential: otherwise the server's own
 * credential would be used instead.
 */
export function createCredentials({ sealKey, onUnreadable }: CredentialsDeps) {
  return (workspaceId: string, name: string, stored: StoredProvider): OpenProvider => {
    const { id, kind, sealedApiKey, sealedExtras, baseURL, organization, project, auth } = stored;
    const row = { workspaceId, id };
    try {
      const apiKey = sealedApiKey && unseal(sealKey, sealedApiKey, sealOwner(row));
      const text = sealedExtras && unseal(sealKey, sealedExtras, sealExtrasOwner(row));
      const extras: RequestExtras = text === null ? noExtras : JSON.parse(text);
      return { name, kind, apiKey, baseURL, extras, organization, project, auth };
    } catch {
      onUnreadable({ workspaceId, name });
      throw new ModelFailure(
        'PROVIDER_NOT_CONFIGURED',
        `The credential of provider '${name}' cannot be decrypted. Store it again.`,
      );
    }
  };
}
