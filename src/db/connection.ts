import type { ClientConfig } from './client.ts';

/** How to reach a database. */
export interface Connection extends ClientConfig {
  /** Whether a transaction pooler is in between. Detected once, at startup. */
  readonly pooled?: boolean;
  /** The major version of the server. */
  readonly serverVersion?: number;
}
