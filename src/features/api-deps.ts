import type { RateLimits } from '../core/agent/limits.ts';
import type { Template } from '../core/agent/prompt.ts';
import type { AllowedHosts } from '../core/allowed-hosts.ts';
import type { BatchStorageLimits } from '../core/batch/batch.ts';
import type { ByteShares } from '../core/byte-shares.ts';
import type { Compute } from '../core/compute.ts';
import type { PriceLookup } from '../core/model/call-bound.ts';
import type { ChainRules } from '../core/model/credential-chain.ts';
import type { ProviderDirectory, TestConnection } from '../core/model/model-port.ts';
import type { Actor } from '../core/people/audit.ts';
import type { SendMail } from '../core/people/mail.ts';
import type { SharedResource, Shares } from '../core/shares.ts';
import type { Db } from '../db/database.ts';
import type { HistoryReads } from '../db/history-reads.ts';
import type { Pipelines } from '../db/pipeline.ts';
import type { Standby } from '../db/standby.ts';
import type { Admission, Admitted } from '../engine/admit/admit.ts';
import type { Canceler } from '../engine/complete/cancel.ts';
import type { SharedReads } from '../engine/read/shared-reads.ts';
import type { Waiters } from '../engine/read/wait.ts';
import type { LiveStreams } from '../engine/stream/live-streams.ts';

import type { RouteDeps } from '../http/route.ts';

/** Shares that routes take by themselves. The other dependencies take theirs. */
type RouteResource = Extract<
  SharedResource,
  | 'waits'
  | 'streams'
  | 'uploads'
  | 'results'
  | 'exports'
  | 'longPages'
  | 'declarations'
  | 'providerTests'
>;

/**
 * What routes of more than one feature depend on; `process/app.ts` creates it. What belongs to one feature is in an interface of its
 * own beside its routes.
 */
export interface ApiDeps extends RouteDeps {
  /** The largest body of a call. */
  readonly callBodyBytes: number;
  /** For requests: `inWorkspace` names the workspace whose connections a request uses. */
  readonly db: Db;
  /** For what takes longer than the event loop may wait. */
  readonly compute: Compute;
  /** Batched reads of callers, agents and executions. */
  readonly reads: SharedReads;
  /** Lists, searches and statistics, on their own connections. */
  readonly historyReads: HistoryReads;
  /** Separate connections for exports, which last as long as their client reads. */
  readonly exportDb: Db;
  /** Exports from a standby; null without one. */
  readonly standbyExports: { readonly db: Db; readonly reads: Standby } | null;
  /** For statements that delete records. */
  readonly singlePipelines: Pipelines;
  readonly admission: Admission;
  readonly prices: PriceLookup;
  readonly template: (promptVersionId: string) => Promise<Template>;
  readonly canceler: Canceler;
  readonly cancelBatch: (id: string, actor: Actor) => Promise<void>;
  readonly waiters: Waiters;
  readonly streams: LiveStreams;
  /** What open calls over the OpenAI API keep of their requests until their end. */
  readonly callBytes: ByteShares;
  /** What requests hold, shared between workspaces. A slot is taken before a connection to the database. */
  readonly shares: Readonly<Record<RouteResource, Shares>>;
  /** Null if the server sends no e-mail. */
  readonly sendMail: SendMail | null;
  /** Records the last use of a key. */
  readonly onKeyUsed: (hash: string) => void;
  readonly listPerMinute: number;
  readonly batchStorage: BatchStorageLimits;
  /** Events that one webhook accepts per minute. */
  readonly webhookPerMinute: number;
  /** Limits of agents in the Testing stage. */
  readonly testingLimits: RateLimits;
  /** Encrypts provider credentials and the secrets of webhooks and endpoints. */
  readonly sealKey: Buffer;
  /** The public reason why a base URL is not allowed; null if it is. */
  readonly checkBaseURL: (baseURL: string) => Promise<string | null>;
  /** Likewise for the URL of a tool server. */
  readonly checkToolServerURL: (url: string) => Promise<string | null>;
  /** Likewise for the URL of an endpoint. */
  readonly checkEndpointURL: (url: string) => Promise<string | null>;
  /** The hosts whose files may have URLs that begin with `http:`. */
  readonly allowedHosts: AllowedHosts;
  readonly chainRules: ChainRules;
  readonly testConnection: TestConnection;
  readonly directory: ProviderDirectory;
  /** Counts a call of an agent over another protocol than the execute routes, whose responses are counted. */
  readonly onAdmitted: (admitted: Admitted) => void;
  /** Of this program. */
  readonly version: string;
  readonly publicUrl: string | null;
}
