import type { Logger } from 'pino';
import type { PriceLookup } from '../core/model/call-bound.ts';
import type { ModelPort, ProviderDirectory, TestConnection } from '../core/model/model-port.ts';
import type { SharedResource } from '../core/shares.ts';
import type { ToolPort } from '../core/tools/tool-port.ts';
import type { Connection } from '../db/connection.ts';
import type { Database } from '../db/database.ts';
import type { ServerLimits } from '../http/connection/slow-readers.ts';
import type { BreakerState } from '../models/capacity/breakers.ts';
import type { AllDeps } from './all-routes.ts';
import type { Config } from './config/config.ts';

/** What a process does: `start` serves the API and works, the others do one of the two. */
export type Role = 'start' | 'api' | 'worker';

export interface WiringDeps {
  readonly role: Role;
  readonly connection: Connection;
  readonly db: Database;
  /** Standbys that serve lists, searches, statistics and exports. */
  readonly readConnection?: Connection | null;
  readonly secret: string;
  readonly models: ModelPort;
  readonly prices: PriceLookup;
  /** Sends calls of tools instead of to their servers, in tests. */
  readonly tools?: ToolPort;
  readonly testConnection: TestConnection;
  readonly directory: ProviderDirectory;
  /** The circuit breakers of providers, for metrics. */
  readonly providers?: () => BreakerState[];
  readonly logger: Logger;
  readonly version: string;
  readonly config: Pick<
    Config,
    | 'slots'
    | 'streamBytes'
    | 'executionBytes'
    | 'bodyBytes'
    | 'callBodyBytes'
    | 'leaseMs'
    | 'testingLimits'
    | 'listPerMinute'
    | 'readLagMs'
    | 'searchIndex'
    | 'managePerMinute'
    | 'webhookPerMinute'
    | 'batchStorage'
    | 'trustedProxies'
    | 'publicUrl'
    | 'signIn'
    | 'smtp'
    | 'metricsToken'
    | 'allowedHosts'
    | 'proxies'
    | 'chainWorkspaces'
  >;
  /** How long a readiness check may take, in milliseconds. Default: two seconds. */
  readonly readinessMsMax?: number;
  /** Other numbers of slots, for tests. */
  readonly shareLimits?: Partial<Record<SharedResource, number>>;
  /** Other limits of connections, for tests. */
  readonly serverLimits?: ServerLimits;
  /** Replaces dependencies of the API in tests. */
  readonly overrides?: (api: AllDeps) => Partial<AllDeps>;
}
