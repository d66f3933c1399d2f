import type { FastifyInstance } from 'fastify';
import { parseAllowedHosts } from '../core/allowed-hosts.ts';
import type { Mailer } from '../core/people/mail.ts';
import { deriveSealKey } from '../core/seal.ts';
import { fairDb, fairPipelines } from '../db/fair-connections.ts';
import { HistoryReads } from '../db/history-reads.ts';
import { createSharedReads } from '../engine/read/shared-reads.ts';
import { dashboardRoutes } from '../faces/dashboard/dashboard.ts';
import { cancelBatch } from '../features/batches/verbs/cancel-batch.ts';
import { resolveAgents } from '../features/people/access/agent-references.ts';
import { createAuthenticator } from '../features/people/access/authenticate.ts';
import { createSessions } from '../features/people/access/session.ts';
import type { KeyUse } from '../features/people/verbs/key-use.ts';
import type { GracefulShutdown } from '../http/connection/graceful-shutdown.ts';
import { serverLimits } from '../http/connection/slow-readers.ts';
import { createManagementLimit } from '../http/limits/management-limit.ts';
import { markWrites } from '../http/response/mark-writes.ts';
import { createServer } from '../http/server.ts';
import {
  allowedHostCheck,
  checkBaseURL,
  checkEndpointURL,
  checkToolServerURL,
} from '../net/guard.ts';
import { type AllDeps, apiRoutes } from './all-routes.ts';
import type { Engine } from './engine.ts';
import { countAdmitted, countExecuteCalls } from './metrics.ts';
import type { StandbyConnections } from './open-standby.ts';
import { openapiRoute, systemRoutes } from './system-routes.ts';
import type { WiringDeps } from './wiring-deps.ts';

export interface ProcessServices {
  readonly keyUse: KeyUse;
  readonly mailer: Mailer | null;
  readonly standby: StandbyConnections | null;
}

/** The HTTP server. `draining` makes the readiness check fail. */
export function createApp(
  deps: WiringDeps,
  engine: Engine,
  services: ProcessServices,
  shutdown: GracefulShutdown,
): { readonly app: FastifyInstance; draining: boolean } {
  const { config, logger, role } = deps;
  const { connections, metrics, worker, bodyBytes } = engine;
  const { metricsToken, trustedProxies, publicUrl } = config;
  const limits = deps.serverLimits ?? serverLimits;
  const app = createServer({ logger, trustedProxies, publicUrl, shutdown, limits, bodyBytes });
  const server = { app, draining: false };
  systemRoutes(app, {
    db: connections.readinessDb,
    metrics,
    metricsToken,
    draining: () => server.draining,
    ...(deps.readinessMsMax !== undefined && { readinessMsMax: deps.readinessMsMax }),
    leased: () => role !== 'worker' || worker?.slots.lease() != null,
  });
  if (role !== 'worker') {
    const { standby } = services;
    if (standby) markWrites(app, standby.reads);
    const api = createApiDeps(deps, engine, services);
    countExecuteCalls(app, metrics);
    openapiRoute(app, deps.version);
    apiRoutes(app, { ...api, ...deps.overrides?.(api) });
    dashboardRoutes(app);
  }
  return server;
}

function createApiDeps(
  deps: WiringDeps,
  engine: Engine,
  { keyUse, mailer, standby }: ProcessServices,
): AllDeps {
  const { config, logger, secret } = deps;
  const { publicUrl, signIn, listPerMinute, webhookPerMinute, testingLimits, batchStorage } =
    config;
  const { connections, compute, workflows, metrics, admission, notifications, shares } = engine;
  const { pipelines, historyDb, exportDb } = connections;
  const db = fairDb(deps.db, shares.connections);
  const singlePipelines = fairPipelines(connections.singlePipelines, shares.singleConnections);
  const canceler = engine.cancelerOn(db);
  const sendMail = mailer?.send ?? null;
  const sessions = createSessions({ db: deps.db, logger, secret, publicUrl, signIn, sendMail });
  const { caller: session, checkSameOrigin } = sessions;
  const onKeyUsed = (hash: string) => keyUse.used(hash);
  const onBatch = (size: number) => metrics.transactionObserved('read', size);
  const reads = createSharedReads({ pipelines, onBatch });
  return {
    db,
    compute,
    exportDb,
    reads,
    singlePipelines,
    ...{ admission, prices: deps.prices, template: engine.template },
    canceler,
    sessions,
    sendMail,
    checkSameOrigin,
    listPerMinute,
    webhookPerMinute,
    batchStorage,
    callBodyBytes: Math.min(config.callBodyBytes, engine.bodyBytes.senderMax),
    testingLimits,
    onKeyUsed,
    cancelBatch: (id, actor) =>
      cancelBatch({ db, canceler, pipelines: singlePipelines, notifications }, id, actor),
    limitManagement: createManagementLimit(config.managePerMinute),
    historyReads: new HistoryReads({
      db: historyDb,
      shares,
      standby: standby && { db: standby.historyDb, reads: standby.reads },
    }),
    standbyExports: standby && { db: standby.exportDb, reads: standby.reads },
    waiters: engine.waiters,
    streams: engine.streams,
    callBytes: engine.callBytes,
    ...{ workflowStarter: workflows.starter, workflowCanceler: workflows.canceler },
    shares,
    resolveAgents: (caller, paths, value) => resolveAgents(reads, caller, paths, value),
    authenticator: createAuthenticator({ reads, session, onKeyUsed }),
    sealKey: deriveSealKey(secret),
    ...checksOf(config),
    allowedHosts: parseAllowedHosts(config.allowedHosts),
    chainRules: {
      workspaces: config.chainWorkspaces,
      isAllowedHost: allowedHostCheck(config.allowedHosts),
    },
    testConnection: deps.testConnection,
    directory: deps.directory,
    openCalls: engine.openCalls,
    ...{ toolSender: engine.tools.sender, reachToolServer: engine.tools.reach },
    onAdmitted: (admitted) => countAdmitted(metrics, admitted),
    version: deps.version,
    publicUrl,
  };
}

/** What tells whether a URL is allowed. */
function checksOf({ allowedHosts: hosts }: WiringDeps['config']) {
  return {
    checkBaseURL: (url: string) => checkBaseURL(url, hosts),
    checkToolServerURL: (url: string) => checkToolServerURL(url, hosts),
    checkEndpointURL: (url: string) => checkEndpointURL(url, hosts),
  };
}
