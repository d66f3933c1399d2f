import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createAuthenticator } from './api/access/authenticate.ts';
import { createSessions } from './api/access/session.ts';
import type { ApiDeps } from './api/api-deps.ts';
import {
  closeWithin,
  createGracefulShutdown,
  type GracefulShutdown,
} from './api/http/connection/graceful-shutdown.ts';
import { createCallerSlots } from './api/http/limits/caller-slots.ts';
import { createManagementLimit } from './api/http/limits/management-limit.ts';
import {
  countAdmitted,
  countExecuteCalls,
  createMetrics,
  type Metrics,
} from './api/http/metrics.ts';
import { markWrites } from './api/http/response/mark-writes.ts';
import { createOpenCalls } from './api/routes/mcp/open-calls.ts';
import { dashboardRoutes } from './api/routes/system/dashboard.ts';
import { openapiRoute, systemRoutes } from './api/routes/system/system.ts';
import { apiRoutes } from './api/routes.ts';
import { createServer } from './api/server.ts';
import type { Config } from './config.ts';
import * as limits from './contract/limits.ts';
import { toId } from './core/id.ts';
import {
  type ModelPort,
  type ProviderDirectory,
  splitModelName,
  type TestConnection,
} from './core/model/model-port.ts';
import type { Mailer } from './core/people/mail.ts';
import { deriveSealKey } from './core/seal.ts';
import { createAdmission } from './flow/admission/admit.ts';
import { Announcements } from './flow/announcements.ts';
import { type BatchRunner, createBatchRunner } from './flow/batch/batch-runner.ts';
import { cancelBatch } from './flow/batch/cancel-batch.ts';
import { createCompletions } from './flow/completions.ts';
import { evaluateAlerts } from './flow/event/evaluate-alerts.ts';
import { maintainEndpoints } from './flow/event/maintain-endpoints.ts';
import { createProviderHealth } from './flow/event/provider-health.ts';
import { type Canceler, createCanceler } from './flow/execution/cancel.ts';
import { type ExecuteDeps, templateCache } from './flow/execution/execute.ts';
import { createFinisher, type Finisher } from './flow/execution/finish.ts';
import { createLiveStreams } from './flow/execution/live-streams.ts';
import { createSharedReads } from './flow/execution/shared-reads.ts';
import { createWaiters } from './flow/execution/wait.ts';
import { createHistoryReads } from './flow/history/history-reads.ts';
import { indexRound } from './flow/history/index-round.ts';
import { maintain } from './flow/history/maintain.ts';
import {
  foldLabelsRound,
  runRetentionIfDue,
  runRollupIfDue,
} from './flow/history/retention-round.ts';
import { createStandby } from './flow/history/standby.ts';
import { definitionCache } from './flow/workflow/definition-cache.ts';
import { fireSchedules } from './flow/workflow/fire-schedules.ts';
import { valueCache } from './flow/workflow/value-cache.ts';
import { createWorkflows } from './flow/workflow/workflows.ts';
import { createKeyUse, type KeyUse } from './flow/workspace/key-use.ts';
import { sendMails } from './flow/workspace/send-mails.ts';
import { executionLog, repeatedWarnings } from './log.ts';
import { allowedHostCheck, checkBaseURL, checkEndpointURL } from './net/guard.ts';
import { createMailer } from './net/mailer.ts';
import { createPostEvent } from './net/post-event.ts';
import { type BreakerState, providersOpen } from './provider/capacity/breakers.ts';
import { withMetrics } from './provider/with-metrics.ts';
import { countWaitingLines } from './store/batch/due-batches.ts';
import {
  type Connections,
  openConnections,
  openReadConnections,
  openSampleDb,
} from './store/connection/connections.ts';
import { type Db, dropIdle } from './store/connection/database.ts';
import type { Connection } from './store/connection/detect-pooler.ts';
import { type Notifications, openNotifications } from './store/connection/notifications.ts';
import { freeLostEndpoints } from './store/event/deliveries.ts';
import { countEndpointStates } from './store/event/endpoints.ts';
import { findEnded } from './store/execution/executions.ts';
import { queueDepth } from './store/execution/queue.ts';
import { deleteEndedStreams } from './store/execution/stream-chunks.ts';
import { readTemplate } from './store/execution/templates.ts';
import { readSearchLag } from './store/history/search-index.ts';
import { markKeysUsed } from './store/people/callers.ts';
import { createEventSender, type EventSender } from './worker/event-sender.ts';
import { startMaintenance } from './worker/start-maintenance.ts';
import { startSweep } from './worker/start-sweep.ts';
import { createWorker, type Worker } from './worker/worker.ts';

/**
 * Builds one process from its configuration: the engine, and on it the API, the worker or both. The program and the
 * tests use the same wiring.
 */
export interface Wiring {
  /** Null in a process that only serves the API. */
  readonly worker: Worker | null;
  /** The API. In a pure worker process, only its health and metrics. */
  readonly app: FastifyInstance;
  /** Shuts down in the order of the data: refuse new work, finish accepted work, write what is pending. */
  drain(timeoutMs: number): Promise<void>;
}

/** What a process does: `start` serves the API and works, the others do one of the two. */
export type Role = 'start' | 'api' | 'worker';

export interface WiringDeps {
  readonly role: Role;
  readonly connection: Connection;
  readonly db: Db;
  /** Standbys that serve lists, searches, statistics and exports. */
  readonly readConnection?: Connection | null;
  readonly secret: string;
  readonly models: ModelPort;
  readonly testConnection: TestConnection;
  readonly directory: ProviderDirectory;
  /** The circuit breakers of providers, for metrics. */
  readonly providers?: () => BreakerState[];
  readonly logger: Logger;
  readonly version: string;
  readonly config: Pick<
    Config,
    | 'slots'
    | 'leaseMs'
    | 'testingLimits'
    | 'listPerMinute'
    | 'readLagMs'
    | 'searchIndex'
    | 'managePerMinute'
    | 'webhookPerMinute'
    | 'trustedProxies'
    | 'publicUrl'
    | 'signIn'
    | 'smtp'
    | 'metricsToken'
    | 'allowedHosts'
    | 'proxies'
    | 'chainWorkspaces'
  >;
  /** Replaces dependencies of the API in tests. */
  readonly overrides?: (api: ApiDeps) => Partial<ApiDeps>;
}

const historyReadLimits = {
  max: limits.historyReadsMax,
  ofWorkspaceMax: limits.historyReadsOfWorkspaceMax,
  ofCallerMax: limits.historyReadsOfCallerMax,
  searchesOfCallerMax: limits.searchesOfCallerMax,
  reserved: limits.historyReadsReserved,
  waitMs: limits.historyReadWaitMs,
};

/** For requests whose body is incomplete when the process shuts down. */
const unfinishedRequestsMs = 5_000;

export async function wire(deps: WiringDeps): Promise<Wiring> {
  const { connection, config, db } = deps;
  const failures = backgroundFailures(deps.logger);
  const mailer = config.smtp && createMailer(config.smtp);
  const connections = openConnections({
    ...{ connection, leaseMs: config.leaseMs },
    exportsMax: limits.exportsMax,
    historyReadsMax: limits.historyReadsMax,
    onError: failures.reporter('database connection lost'),
  });
  const onError = failures.reporter('notifications unavailable');
  const notifications = openNotifications({ db, connection, onError });
  const engine = createEngine(deps, connections, notifications, failures);
  const standby = openStandby(deps, failures.reporter('standby unavailable'));
  const { worker, finisher, workflows, admission, batches, events } = engine;
  engine.announcements.listen(worker, events?.sender ?? null);
  await worker?.start();
  const background = worker ? startBackground(deps, engine, failures, mailer) : null;
  const keyUse = createKeyUse({
    touch: (hashes) => markKeysUsed(db, hashes),
    onError: failures.reporter('key usage update failed'),
  });
  const shutdown = createGracefulShutdown();
  const server = createApp(deps, engine, { keyUse, mailer, standby }, shutdown);
  const { app } = server;

  return {
    worker,
    app,
    async drain(timeoutMs) {
      server.draining = true;
      // Before the lease ends. What is due later is sent by another process, or after the next start.
      await events?.sender.stop();
      await batches?.stop();
      // The API keeps responding while executions end. Waiting callers get their result.
      await worker?.drain(timeoutMs);
      engine.waiters.close();
      engine.streams.close();
      await shutdown.shutDown(app.server, timeoutMs);
      await closeWithin(app, unfinishedRequestsMs);
      await background?.stopSweeps();
      // The end of one step makes others ready, and those are admitted.
      await finisher.idle();
      await workflows.idle();
      await admission.idle();
      await background?.stopMaintenance();
      await finisher.idle();
      await keyUse.close();
      await engine.providerHealth.idle();
      await events?.close();
      mailer?.close();
      await notifications.close();
      failures.close();
      await standby?.close();
      await connections.close();
    },
  };
}

type BackgroundFailures = ReturnType<typeof backgroundFailures>;

/** Warns of failures outside of requests. After `close`, connections end under whatever still uses them: no warning. */
function backgroundFailures(logger: Logger) {
  let closed = false;
  const warn = repeatedWarnings(logger);
  const report = (error: unknown, message: string) => {
    if (!closed) warn(error, message);
  };
  return {
    reporter: (message: string) => (error: unknown) => report(error, message),
    reportOperation: (error: unknown, operation: string) => report(error, `${operation} failed`),
    close() {
      closed = true;
    },
  };
}

type Engine = ReturnType<typeof createEngine>;

/** What accepts, executes and ends executions and workflow runs, without the HTTP server. */
function createEngine(
  deps: WiringDeps,
  connections: Connections,
  notifications: Notifications,
  failures: BackgroundFailures,
) {
  const { config, db, logger } = deps;
  const { pipelines, singlePipelines, workDb } = connections;
  const { testingLimits } = config;
  const onError = failures.reporter('wait poll failed');
  const waiters = createWaiters({ findEnded: (ids) => findEnded(db, ids), onError });
  const log = executionLog(logger);
  const metrics = createMetrics({
    running: () => worker?.running ?? 0,
    queue: () => queueDepth(db),
    searchLag: () => readSearchLag(db),
    events: () => countEndpointStates(db),
    waitingLines: () => countWaitingLines(db),
    providers: () => providersOpen(deps.providers?.() ?? []),
    onError: failures.reporter('metrics of the database failed'),
  });
  const values = valueCache();
  const streams = createLiveStreams({
    ...{ db: workDb, notifications },
    onError: failures.reporter('stream failed'),
  });
  const announcements = new Announcements({
    ...{ notifications, waiters, streams, values, metrics, log },
  });
  const completions = createCompletions();
  const progressDeps = { definitions: definitionCache(), values, completions };
  const finisher = createFinisher({
    ...progressDeps,
    ...{ pipelines, singlePipelines },
    onBatch: (size) => metrics.transactionObserved('finish', size),
  });
  const template = templateCache((id) => readTemplate(workDb, id));
  const { models, providerHealth } = observedModels(deps, connections, failures, metrics);
  const execute = {
    ...{ models, template, streams },
    ...{ onFault: log.executionFaulted, onUnreadableField: log.responseUnreadable },
  };
  const worker =
    deps.role === 'api'
      ? null
      : connectWorker(deps, connections, failures, {
          ...{ finisher, execute },
          onSilence: () => events?.sender.abortAll(),
        });
  const events = worker && connectSender(deps, connections, failures, { worker, metrics });
  const admission = createAdmission({
    ...{ pipelines, testingLimits, announcements, slots: worker?.slots ?? null },
    onBatch: (size) => metrics.transactionObserved('admission', size),
  });
  const canceler = createCanceler({ db, finisher, template });
  const batches =
    worker &&
    startBatches(deps, connections, failures, { worker, canceler, announcements, metrics });
  const workflows = createWorkflows({
    ...progressDeps,
    ...{ db: workDb, pipelines, singlePipelines, admission, canceler, testingLimits },
    announcements,
    onFault: failures.reporter('workflow run faulted'),
    onError: failures.reporter('workflow step failed'),
  });
  completions.subscribe((event) => announcements.announceCompletion(event));
  completions.subscribe(workflows.onCompletion);
  completions.subscribe(() => batches?.slotsFreed());
  notifications.subscribe('cueline_batch_uploaded', () => batches?.wake());
  const openCalls = announcedOpenCalls(notifications);
  const waiting = { waiters, streams, openCalls };
  return {
    ...{ connections, announcements, metrics, worker, finisher, events, providerHealth },
    ...{ admission, canceler, workflows, batches, ...waiting },
  };
}

/** Starts lines of batches in the slots of the worker. */
function startBatches(
  { config }: WiringDeps,
  { workDb: db, singlePipelines: pipelines }: Connections,
  failures: BackgroundFailures,
  {
    worker,
    metrics,
    ...more
  }: { worker: Worker; canceler: Canceler; announcements: Announcements; metrics: Metrics },
): BatchRunner {
  return createBatchRunner({
    ...{ db, pipelines, testingLimits: config.testingLimits, slots: worker.slots, ...more },
    onStarted: metrics.linesStarted,
    onError: failures.reporter('batch admission failed'),
  });
}

/** Calls of tools that other processes can cancel. */
function announcedOpenCalls(notifications: Notifications) {
  const channel = 'cueline_tool_call_canceled';
  const openCalls = createOpenCalls((names) => notifications.publish(channel, names));
  notifications.subscribe(channel, openCalls.cancelLocal);
  return openCalls;
}

/** The models, whose calls metrics and events observe. */
function observedModels(
  deps: WiringDeps,
  { eventDb: db }: Connections,
  failures: BackgroundFailures,
  metrics: Metrics,
) {
  const onError = failures.reporter('provider events failed');
  const providerHealth = createProviderHealth({ db, onError });
  const models = withMetrics(deps.models, (call) => {
    metrics.modelCallEnded(call);
    const { model, workspaceId, outcome } = call;
    const { provider } = splitModelName(model);
    providerHealth.called({ workspaceId, provider, model, outcome });
  });
  return { models, providerHealth };
}

function connectWorker(
  { config, db, logger }: WiringDeps,
  connections: Connections,
  failures: BackgroundFailures,
  {
    onSilence,
    ...work
  }: {
    readonly finisher: Finisher;
    readonly execute: ExecuteDeps;
    readonly onSilence: () => void;
  },
): Worker {
  return createWorker({
    ...{ db: connections.workDb, leasePipelines: connections.leasePipelines, ...work },
    ...{ slots: config.slots, leaseMs: config.leaseMs },
    onSilence() {
      onSilence();
      // These connections are dead. The first statement afterwards must not have to find out.
      connections.dropIdle();
      dropIdle(db);
    },
    onRecovery: () => logger.info('heartbeat recovered'),
    onError: failures.reportOperation,
  });
}

/** Sends events while the worker has its lease. */
function connectSender(
  { config, secret, version }: WiringDeps,
  { eventDb, eventPipelines }: Connections,
  failures: BackgroundFailures,
  { worker, metrics }: { readonly worker: Worker; readonly metrics: Metrics },
): { readonly sender: EventSender; readonly close: () => Promise<void> } {
  const { allowedHosts, proxies } = config;
  const { post, close } = createPostEvent({ allowedHosts, proxies });
  const sender = createEventSender({
    ...{ db: eventDb, pipelines: eventPipelines, post, sealKey: deriveSealKey(secret), version },
    lease: worker.slots.lease,
    onAttempt: metrics.deliveryAttempted,
    onError: failures.reporter('event delivery failed'),
  });
  return { sender, close };
}

/** The periodic work of a worker process. */
function startBackground(
  { config, db, logger }: WiringDeps,
  { connections, workflows, batches }: Engine,
  failures: BackgroundFailures,
  mailer: Mailer | null,
) {
  const { singlePipelines, workDb, eventDb } = connections;
  const sweeps = [
    startSweep({ sweep: workflows.sweep, onError: failures.reporter('workflow sweep failed') }),
    startSweep({
      sweep: async () => batches?.poll(),
      onError: failures.reporter('batch sweep failed'),
    }),
    startSweep({
      sweep: workflows.endOverdueWorkflowRuns,
      onError: failures.reporter('workflow deadline sweep failed'),
    }),
    startSweep({
      sweep: () =>
        fireSchedules({
          ...{ db: workDb, starter: workflows.starter },
          onRefused: ({ id }, { code }) =>
            logger.warn({ scheduleId: toId('schedule', id), code }, 'schedule tick rejected'),
          onError: failures.reporter('schedule tick failed'),
        }),
      onError: failures.reporter('schedule poll failed'),
    }),
    startSweep({
      sweep: () => freeLostEndpoints(workDb),
      onError: failures.reporter('event sender sweep failed'),
    }),
    startSweep({
      sweep: () =>
        evaluateAlerts({
          db: eventDb,
          mailsFrom: mailer && config.publicUrl,
          onError: failures.reporter('alert evaluation failed'),
        }),
      onError: failures.reporter('alert sweep failed'),
    }),
    ...(mailer ? [mailSweep(eventDb, mailer, failures)] : []),
  ];
  const roundDeps = { db, pipelines: singlePipelines };
  const maintenance = startMaintenance({
    maintain: () => maintain(db),
    writeIndex: (signal) => indexRound({ db, signal, isOn: config.searchIndex }),
    rounds: {
      retention: (signal) => runRetentionIfDue({ ...roundDeps, signal }),
      rollup: (signal) => runRollupIfDue({ ...roundDeps, signal }),
      labels: (signal) => foldLabelsRound({ ...roundDeps, signal }),
      endpoints: () => maintainEndpoints(db),
      streams: () => deleteEndedStreams(db),
    },
    onError: failures.reportOperation,
  });
  return {
    stopSweeps: () => Promise.all(sweeps.map((sweep) => sweep.stop())),
    stopMaintenance: () => maintenance.stop(),
  };
}

function mailSweep(db: Db, { send }: Mailer, failures: BackgroundFailures) {
  const onError = failures.reporter('mail failed');
  return startSweep({
    sweep: () => sendMails({ db, send, onError }),
    onError: failures.reporter('mail sweep failed'),
  });
}

type StandbyConnections = NonNullable<ReturnType<typeof openStandby>>;

/** Reads from standbys, if they are configured and this process serves the API. */
function openStandby(
  { role, connection, readConnection, db, config }: WiringDeps,
  onError: (error: unknown) => void,
) {
  if (!readConnection || role === 'worker') return null;
  const sampleDb = openSampleDb(connection, onError);
  const { historyDb, exportDb, close } = openReadConnections({
    ...{ connection: readConnection, onError },
    exportsMax: limits.exportsMax,
    historyReadsMax: limits.historyReadsMax,
  });
  const reads = createStandby({ db, sampleDb, lagMsMax: config.readLagMs, onError });
  return {
    ...{ reads, historyDb, exportDb },
    async close() {
      reads.stop();
      await Promise.all([close(), sampleDb.destroy()]);
    },
  };
}

interface Outside {
  readonly keyUse: KeyUse;
  readonly mailer: Mailer | null;
  readonly standby: StandbyConnections | null;
}

/** The HTTP server. `draining` makes the readiness check fail. */
function createApp(
  deps: WiringDeps,
  engine: Engine,
  outside: Outside,
  shutdown: GracefulShutdown,
): { readonly app: FastifyInstance; draining: boolean } {
  const { config, logger, role } = deps;
  const { connections, metrics, worker } = engine;
  const { metricsToken, trustedProxies, publicUrl } = config;
  const app = createServer({ logger, trustedProxies, publicUrl, shutdown });
  const server = { app, draining: false };
  systemRoutes(app, {
    ...{ db: connections.readinessDb, metrics, metricsToken },
    draining: () => server.draining,
    leased: () => role !== 'worker' || worker?.slots.lease() != null,
  });
  if (role !== 'worker') {
    const { standby } = outside;
    if (standby) markWrites(app, standby.reads);
    const api = createApiDeps(deps, engine, outside);
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
  { keyUse, mailer, standby }: Outside,
): ApiDeps {
  const { config, db, logger, secret } = deps;
  const { publicUrl, signIn, listPerMinute, webhookPerMinute, testingLimits } = config;
  const { connections, workflows, metrics, admission, canceler, announcements } = engine;
  const { pipelines, singlePipelines, historyDb, exportDb } = connections;
  const sendMail = mailer?.send ?? null;
  const sessions = createSessions({ db, logger, secret, publicUrl, signIn, sendMail });
  const { caller: session, checkSameOrigin } = sessions;
  const onKeyUsed = keyUse.used;
  const reads = createSharedReads({
    pipelines,
    onBatch: (size) => metrics.transactionObserved('read', size),
  });
  return {
    ...{
      db,
      exportDb,
      reads,
      singlePipelines,
      admission,
      canceler,
      sessions,
      sendMail,
      checkSameOrigin,
    },
    ...{ listPerMinute, webhookPerMinute, testingLimits, onKeyUsed },
    cancelBatch: (id) =>
      cancelBatch({ ...{ db, canceler, pipelines: singlePipelines }, announcements }, id),
    limitManagement: createManagementLimit(config.managePerMinute),
    historyReads: createHistoryReads({
      ...{ db: historyDb, limits: historyReadLimits },
      standby: standby && { db: standby.historyDb, reads: standby.reads },
    }),
    standbyExports: standby && { db: standby.exportDb, reads: standby.reads },
    waiters: engine.waiters,
    streams: engine.streams,
    workflowStarter: workflows.starter,
    workflowCanceler: workflows.canceler,
    waitSlots: createCallerSlots(),
    streamSlots: createCallerSlots({
      max: limits.streamsMax,
      ofCallerMax: limits.streamsOfCallerMax,
    }),
    authenticator: createAuthenticator({ reads, session, onKeyUsed }),
    sealKey: deriveSealKey(secret),
    checkBaseURL: (baseURL) => checkBaseURL(baseURL, config.allowedHosts),
    checkEndpointURL: (url) => checkEndpointURL(url, config.allowedHosts),
    chainRules: {
      workspaces: config.chainWorkspaces,
      isAllowedHost: allowedHostCheck(config.allowedHosts),
    },
    ...{ testConnection: deps.testConnection, directory: deps.directory },
    openCalls: engine.openCalls,
    onAdmitted: (admitted) => countAdmitted(metrics, admitted),
    ...{ version: deps.version, publicUrl },
  };
}
