import type { ProviderAuth, ProviderKind } from '../../core/model/provider.ts';
import type { RequestExtras } from '../../core/model/request-extras.ts';

/** Complete settings: the base URL, and whether the outbound guard applies. */
export interface Connection extends RequestExtras {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly apiKey: string | null;
  readonly baseURL: string;
  /** The operator chose the address, so the guard does not apply. */
  readonly trusted: boolean;
  readonly organization: string | null;
  readonly project: string | null;
  readonly auth: ProviderAuth | null;
  /** The server's region at AWS, for requests that it signs with its own identity. */
  readonly region?: string;
}
