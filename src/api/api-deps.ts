import type { FastifyRequest } from 'fastify';
import type { RateLimits } from '../core/execution/limits.ts';
import type { TestConnection } from '../core/model/model-port.ts';
import type { Admission } from '../flow/admission/admit.ts';
import type { Canceler } from '../flow/execution/cancel.ts';
import type { SharedReads } from '../flow/execution/shared-reads.ts';
import type { Waiters } from '../flow/execution/wait.ts';
import type { WorkflowCanceler } from '../flow/workflow/cancel-workflow.ts';
import type { WorkflowStarter } from '../flow/workflow/start-workflow.ts';
import type { Db } from '../store/connection/database.ts';
import type { Pipelines } from '../store/connection/pipeline.ts';
import type { Authenticator } from './access/authenticate.ts';
import type { Sessions } from './access/session.ts';
import type { WaitSlots } from './http/wait-for.ts';

/** What the routes are given; `wiring.ts` puts it together. */
export interface ApiDeps {
  readonly db: Db;
  /** What callers ask for again and again. */
  readonly reads: SharedReads;
  /** For answers that take as long as their reader: connections of their own. */
  readonly exportDb: Db;
  /** For what deletes records. */
  readonly singlePipelines: Pipelines;
  readonly admission: Admission;
  readonly canceler: Canceler;
  readonly waiters: Waiters;
  readonly workflowStarter: WorkflowStarter;
  readonly workflowCanceler: WorkflowCanceler;
  /** Of runs of workflows. */
  readonly workflowRunWaiters: Waiters;
  /** For both kinds of waiters together. */
  readonly waitSlots: WaitSlots;
  readonly authenticator: Authenticator;
  readonly sessions: Sessions;
  /** Refuses a write that a browser sends with its cookie from another origin. */
  readonly checkSameOrigin: (request: FastifyRequest) => void;
  readonly onKeyUsed: (hash: string) => void;
  readonly listPerMinute: number;
  /** Events that one webhook takes. */
  readonly webhookPerMinute: number;
  /** What the Testing stage caps an agent at. */
  readonly testingLimits: RateLimits;
  /** What credentials of providers are sealed with. */
  readonly sealKey: Buffer;
  /** Why a workspace may not have this base URL, as public text; null where it may. */
  readonly checkBaseURL: (baseURL: string) => Promise<string | null>;
  readonly testConnection: TestConnection;
}
