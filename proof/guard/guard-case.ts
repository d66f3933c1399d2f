import type { ProviderKind } from '../../src/core/model/provider.ts';

/** What a workspace may give as the address of a provider, and where a call may come to by it. */
export interface GuardCase {
  readonly baseURL: string;
  /** Addresses behind names: those of the first question, of the second, …; the last answer stays. */
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** The operator's `CUELINE_ALLOWED_HOSTS`. */
  readonly allowedHosts?: readonly string[];
  /** Whether it may be stored. */
  readonly stored: boolean;
  /** `address port` of each place that a call may reach; where there is none, no packet may leave. */
  readonly reaches: readonly string[];
  /** Of the provider; `openai-compatible` unless given. */
  readonly kind?: ProviderKind;
}

/** Public addresses, in blocks that their owners announce. */
export const publicAddress = '93.184.215.14';
export const publicAddress6 = '2606:2800:21f:cb07::1';
/** Public by its number, but the machine's own. */
export const ownAddress = '93.184.215.99';
