import type { ProviderKind } from '../../src/core/model/provider.ts';

/** The base URL of a provider, and the addresses that a call may reach with it. */
export interface GuardCase {
  readonly baseURL: string;
  /** The addresses of names, by lookup: of the first one, of the second one, …; the last entry repeats. */
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** The operator's `CUELINE_ALLOWED_HOSTS`. */
  readonly allowedHosts?: readonly string[];
  /** Whether a workspace may store it. */
  readonly stored: boolean;
  /** Part of the reason why not, if it is the text and not its host. */
  readonly why?: string;
  /** `address port` of each target that a call may reach. If empty, no packet may leave. */
  readonly reaches: readonly string[];
  /** `openai-compatible` by default. */
  readonly kind?: ProviderKind;
}

/** Public addresses in announced blocks. */
export const publicAddress = '93.184.215.14';
export const publicAddress6 = '2606:2800:21f:cb07::1';
/** A public address that belongs to this machine. */
export const ownAddress = '93.184.215.99';
