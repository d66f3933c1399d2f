import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createAuthenticator } from './api/access/authenticate.ts';
import { createSessions } from './api/access/session.ts';
import type { ApiDeps } from './api/api-deps.ts';
import { closeWithin, createGracefulShutdown } from './api/http/graceful-shutdown.ts';
import { countExecuteCalls, createMetrics } from './api/http/metrics.ts';
import { createWaitSlots } from './api/http/wait-for.ts';
import { dashboardRoutes } from './api/routes/system/dashboard.ts';
import { referenceRoutes, systemRoutes } from './api/routes/system/system.ts';
import { apiRoutes } from './api/routes.ts';
import { createServer } from './api/server.ts';
import type { Config } from './config.ts';
import { exportsMax } from './contract/limits.ts';
import { toId } from './core/id.ts';
import type { ModelPort, TestConnection } from './core/model/model-port.ts';
import { deriveSealKey } from './core/seal.ts';
import { createAdmission } from './flow/admission/admit.ts';
import { createCanceler } from './flow/execution/cancel.ts';
import { templateCache } from './flow/execution/execute.ts';
import { createFinisher } from './flow/execution/finish.ts';
import { createSharedReads } from './flow/execution/shared-reads.ts';
import { createWaiters } from './flow/execution/wait.ts';
import { maintain } from './flow/history/maintain.ts';
import { createRetentionRound, createRollupRound } from './flow/history/retention-round.ts';
import { definitionCache } from './flow/workflow/definition-cache.ts';
import { fireSchedules } from './flow/workflow/fire-schedules.ts';
import { valueCache } from './flow/workflow/value-cache.ts';
import { createWorkflows } from './flow/workflow/workflows.ts';
import { createKeyUse } from './flow/workspace/key-use.ts';
import { complaints, executionLog } from './log.ts';
import { checkBaseURL } from './net/guard.ts';
import { type BreakerState, providersOpen } from './provider/breakers.ts';
import { withMetrics } from './provider/with-metrics.ts';
import { touchKeys } from './store/admission/callers.ts';
import { openConnections } from './store/connection/connections.ts';
import { type Db, dropIdle } from './store/connection/database.ts';
import type { Connection } from './store/connection/detect-pooler.ts';
import { openBus } from './store/connection/notifications.ts';
import { findEnded } from './store/execution/executions.ts';
import { queueDepth } from './store/execution/queue.ts';
import { readTemplate } from './store/execution/templates.ts';
import { findEndedWorkflowRuns } from './store/workflow/workflow-runs.ts';
import { startMaintenance } from './worker/start-maintenance.ts';
import { startSweep } from './worker/start-sweep.ts';
import { createWorker, type Worker } from './worker/worker.ts';

/**
 * One process, put together: the engine, with the API, the worker or both on it. The program and the tests wire the
 * same way.
 */
export interface Wiring {
  /** Present where the process works. */
  readonly worker: Worker | null;
  /** The API, or in a process that only works what it says of itself. */
  readonly app: FastifyInstance;
  /** Ends in the order of the data: nothing new comes in, what came in is carried out, what was is written. */
  drain(timeoutMs: number): Promise<void>;
}

/** What a process does: both, only serve the API, only work. */
export type Role = 'start' | 'api' | 'worker';

export interface WiringDeps {
  readonly role: Role;
  readonly connection: Connection;
  readonly db: Db;
  readonly secret: string;
  readonly models: ModelPort;
  readonly testConnection: TestConnection;
  /** Which providers are left alone, for metrics. */
  readonly providers?: () => BreakerState[];
  readonly logger: Logger;
  readonly version: string;
  readonly config: Pick<
    Config,
    | 'slots'
    | 'leaseMs'
    | 'testingLimits'
    | 'listPerMinute'
    | 'webhookPerMinute'
    | 'trustedProxies'
    | 'publicUrl'
    | 'signIn'
    | 'metricsToken'
    | 'allowedHosts'
  >;
  /** Parts of the API that a test puts its own in place of. */
  readonly instead?: (parts: ApiDeps) => Partial<ApiDeps>;
}

/** What the rest of a request gets that is not all here when the process ends. */
const unfinishedMs = 5_000;
export async function wire(parts: WiringDeps): Promise<Wiring> {
  const { config, connection, db, logger, role } = parts;
  const { leaseMs, slots } = config;
  let ended = false;
  // At the end the connections go under whatever may still ask something; nobody needs to know.
  const complain = complaints(logger);
  const note = (what: string) => (error: unknown) => {
    if (!ended) complain(error, what);
  };
  const noteAt = (error: unknown, what: string) => note(`${what} failed`)(error);
  const connections = openConnections({
    ...{ connection, leaseMs, exportsMax },
    onError: note('a connection was lost'),
  });
  const { pipelines, singlePipelines, leasePipelines, workDb, exportDb } = connections;
  const bus = openBus({ db, connection, onError: note('no hints from other processes') });
  const waiters = createWaiters({
    findEnded: (ids) => findEnded(db, ids),
    onError: note('waiting callers were not looked after'),
  });
  const workflowRunWaiters = createWaiters({
    findEnded: (ids) => findEndedWorkflowRuns(db, ids),
    onError: note('waiting callers were not looked after'),
  });
  const log = executionLog(logger);
  const metrics = createMetrics({
    running: () => worker?.running ?? 0,
    queue: () => queueDepth(db),
    providers: () => providersOpen(parts.providers?.() ?? []),
    onError: note('the queue was not read'),
  });

  const onQueued = () => {
    worker?.wake();
    bus.publish('cueline_queued');
  };
  const onFault = note('a run of a workflow was given up');
  const known = { definitions: definitionCache(), memory: valueCache(), onFault };
  const finisher = createFinisher({
    ...known,
    ...{ pipelines, singlePipelines },
    onProgress: (progress) => workflows.onProgress(progress),
    onEnded: (run) => {
      waiters.ended([run.id]);
      bus.publish('cueline_execution_ended', [run.id]);
      metrics.executionEnded(run);
      log.ended(run);
    },
    onQueued,
    onBatch: (size) => metrics.batchCompleted('finish', size),
  });
  const template = templateCache((id) => readTemplate(workDb, id));
  const models = withMetrics(parts.models, metrics.modelCallEnded);
  const worker =
    role === 'api'
      ? null
      : createWorker({
          db: workDb,
          ...{ leasePipelines, finisher, models, template, slots, leaseMs },
          onSilence: () => {
            // They are dead: what comes first afterwards must not have to find that out.
            connections.dropIdle();
            dropIdle(db);
          },
          onAgain: () => logger.info('heartbeats again'),
          onFault: log.fault,
          onError: noteAt,
        });
  bus.subscribe('cueline_execution_ended', waiters.ended);
  bus.subscribe('cueline_workflow_run_ended', workflowRunWaiters.ended);
  bus.subscribe('cueline_workflow_run_ended', (runIds) => runIds.forEach(known.memory.forget));
  if (worker) {
    bus.subscribe('cueline_queued', worker.wake);
    bus.subscribe('cueline_canceled', worker.cancel);
    await worker.start();
  }
  const house =
    worker &&
    startMaintenance({
      maintain: () => maintain(db),
      rounds: {
        retention: (signal) => createRetentionRound({ db, pipelines: singlePipelines, signal }),
        folding: (signal) => createRollupRound({ db, pipelines: singlePipelines, signal }),
      },
      onError: noteAt,
    });

  const admission = createAdmission({
    ...{ pipelines, onQueued, testingLimits: config.testingLimits },
    slots: worker?.slots ?? null,
    onBatch: (size) => metrics.batchCompleted('admission', size),
  });
  const canceler = createCanceler({
    ...{ db, finisher, template },
    onExecutionCanceled: (id) => {
      worker?.cancel([id]);
      bus.publish('cueline_canceled', [id]);
    },
  });
  const workflows = createWorkflows({
    ...known,
    ...{ db: workDb, pipelines, singlePipelines, admission, canceler },
    testingLimits: config.testingLimits,
    onEnded: (run) => {
      workflowRunWaiters.ended([run.runId]);
      bus.publish('cueline_workflow_run_ended', [run.runId]);
      metrics.workflowRunEnded(run.end.status);
      log.workflowRunEnded(run);
    },
    onError: note('a step of a workflow was not seen to'),
  });
  const sweep =
    worker && startSweep({ sweep: workflows.sweep, onError: note('runs were not swept') });
  const deadlines =
    worker &&
    startSweep({
      sweep: workflows.endOverdueWorkflowRuns,
      onError: note('overdue runs were not ended'),
    });
  const schedules =
    worker &&
    startSweep({
      sweep: () =>
        fireSchedules({
          ...{ db: workDb, starter: workflows.starter },
          onRefused: ({ id }, { code }) =>
            logger.warn({ scheduleId: toId('schedule', id), code }, 'a tick started no run'),
          onError: note('a schedule was not fired'),
        }),
      onError: note('schedules were not looked at'),
    });
  const keyUse = createKeyUse({
    touch: (hashes) => touchKeys(db, hashes),
    onError: note('the last use of keys was not noted'),
  });

  let draining = false;
  const shutdown = createGracefulShutdown();
  const app = createServer({ logger, trustedProxies: config.trustedProxies, shutdown });
  const { metricsToken, publicUrl, signIn } = config;
  systemRoutes(app, {
    ...{ db, metrics, metricsToken, draining: () => draining },
    leased: () => role !== 'worker' || worker?.slots.lease() != null,
  });
  if (role !== 'worker') {
    const sessions = createSessions({ db, logger, secret: parts.secret, publicUrl, signIn });
    const { caller: session, checkSameOrigin } = sessions;
    const onKeyUsed = keyUse.used;
    const reads = createSharedReads({
      pipelines,
      onBatch: (size) => metrics.batchCompleted('read', size),
    });
    const api: ApiDeps = {
      ...{ db, exportDb, reads, singlePipelines, admission, canceler, waiters, sessions },
      ...{
        workflowStarter: workflows.starter,
        workflowCanceler: workflows.canceler,
        workflowRunWaiters,
      },
      ...{ checkSameOrigin, onKeyUsed, waitSlots: createWaitSlots() },
      authenticator: createAuthenticator({ reads, session, onKeyUsed }),
      listPerMinute: config.listPerMinute,
      webhookPerMinute: config.webhookPerMinute,
      testingLimits: config.testingLimits,
      sealKey: deriveSealKey(parts.secret),
      checkBaseURL: (baseURL) => checkBaseURL(baseURL, config.allowedHosts),
      testConnection: parts.testConnection,
    };
    countExecuteCalls(app, metrics);
    referenceRoutes(app, parts.version);
    apiRoutes(app, { ...api, ...parts.instead?.(api) });
    dashboardRoutes(app);
  }

  return {
    worker,
    app,
    async drain(timeoutMs) {
      draining = true;
      // The API answers on while runs end: who waits for one gets its answer, and what is accepted is durable anyway.
      await worker?.drain(timeoutMs);
      waiters.close();
      workflowRunWaiters.close();
      await shutdown.shutDown(app.server, timeoutMs);
      await closeWithin(app, unfinishedMs);
      await Promise.all([sweep?.stop(), deadlines?.stop(), schedules?.stop()]);
      // The end of one step makes others ready, and those are called.
      await finisher.idle();
      await workflows.idle();
      await admission.idle();
      await house?.stop();
      await finisher.idle();
      await keyUse.close();
      await bus.close();
      ended = true;
      await connections.close();
    },
  };
}
