import { parseAllowedHosts } from '../core/allowed-hosts.ts';
import { ByteShares } from '../core/byte-shares.ts';
import type { EndedExecution } from '../core/execution/ended-execution.ts';
import { splitModelName } from '../core/model/model-port.ts';
import { deriveSealKey } from '../core/seal.ts';
import type { Shares } from '../core/shares.ts';
import type { ToolPort } from '../core/tools/tool-port.ts';
import type { Connections } from '../db/connections.ts';
import type { Db } from '../db/database.ts';
import type { Notifications } from '../db/notifications.ts';
import { createAdmission } from '../engine/admit/admit.ts';
import { definitionCache } from '../engine/advance/definition-cache.ts';
import type { EndedWorkflowRun } from '../engine/advance/plan-progress.ts';
import { valueCache } from '../engine/advance/value-cache.ts';
import { readFoldLag } from '../engine/budgets/fold-budgets.ts';
import { createReserveCall } from '../engine/budgets/reserve-calls.ts';
import { earlierMessages } from '../engine/complete/assistant-messages.ts';
import { createCanceler } from '../engine/complete/cancel.ts';
import { createFinisher, type Finisher } from '../engine/complete/finish.ts';
import { createComputeLanes } from '../engine/compute/compute-lanes.ts';
import { findEnded } from '../engine/read/executions.ts';
import { createWaiters, type Waiters } from '../engine/read/wait.ts';
import { type ExecuteDeps, templateCache } from '../engine/run/execute.ts';
import { permits } from '../engine/run/permit-call.ts';
import { queueDepth } from '../engine/run/queue.ts';
import { readTemplate } from '../engine/run/templates.ts';
import { createWorker, type Worker } from '../engine/run/worker.ts';
import { createLiveStreams, type LiveStreams } from '../engine/stream/live-streams.ts';
import { createStepReads } from '../engine/tools/step-reads.ts';
import { createStepWrites } from '../engine/tools/step-writes.ts';
import { OpenCalls } from '../faces/mcp/open-calls.ts';
import { countWaitingLines } from '../features/batches/statements/due-batches.ts';
import {
  type BatchRunner,
  type BatchRunnerDeps,
  createBatchRunner,
} from '../features/batches/verbs/batch-runner.ts';
import { countEndpointStates } from '../features/events/statements/endpoints.ts';
import { createEventSender, type EventSender } from '../features/events/verbs/event-sender.ts';
import { createProviderHealth } from '../features/events/verbs/provider-health.ts';
import { readSearchLag } from '../features/history/statements/search-index.ts';
import { createWorkflows } from '../features/workflows/verbs/workflow-engine.ts';
import { BodyBytes } from '../http/limits/body-bytes.ts';
import { providersOpen } from '../models/capacity/breakers.ts';
import { hideSecrets } from '../models/failure/redact.ts';
import { withMetrics } from '../models/with-metrics.ts';
import { createPostEvent } from '../net/post-event.ts';
import type { BackgroundFailures } from './background-failures.ts';
import { connectTools } from './connect-tools.ts';
import { executionLog } from './log.ts';
import { createMetrics, type Gauges, type Metrics } from './metrics.ts';
import { createShares } from './process-shares.ts';
import type { WiringDeps } from './wiring-deps.ts';

export type Engine = ReturnType<typeof createEngine>;

/** Of the bytes of executions. The others are for prompts and answers. */
const inputsPart = 0.25;

/** Of the bytes of streams. The others are for the requests of open calls: who holds one waits for a record. */
const recordsPart = 0.75;

function createStreams(
  { config: { streamBytes } }: WiringDeps,
  { workDb: db }: Connections,
  notifications: Notifications,
  failures: BackgroundFailures,
) {
  const bytes = new ByteShares(Math.floor(streamBytes * recordsPart));
  const callBytes = new ByteShares(streamBytes - bytes.max);
  const onError = failures.reporter('stream failed');
  return {
    streams: createLiveStreams({ db, notifications, bytes, onError }),
    callBytes,
    gauges: {
      streamBytes: () => bytes.used + callBytes.used,
      pausedStreams: () => bytes.paused,
    },
  };
}

function admissionConfig({ config: { testingLimits, allowedHosts } }: WiringDeps) {
  return { testingLimits, allowedHosts: parseAllowedHosts(allowedHosts) };
}

/** What accepts, executes and ends executions and workflow runs, without the HTTP server. */
export function createEngine(
  deps: WiringDeps,
  connections: Connections,
  notifications: Notifications,
  failures: BackgroundFailures,
) {
  const { db, prices } = deps;
  const { testingLimits, allowedHosts } = admissionConfig(deps);
  const { pipelines, singlePipelines, workDb } = connections;
  const tools = connectTools(deps);
  const waiters = createWaiters({
    findEnded: (ids) => findEnded(db, ids),
    onError: failures.reporter('wait poll failed'),
  });
  const shares = createShares(db, deps.shareLimits);
  const { streams, callBytes, gauges } = createStreams(deps, connections, notifications, failures);
  const bodyBytes = new BodyBytes(deps.config.bodyBytes);
  const metrics = processMetrics(deps, failures, {
    ...{ ...gauges, shares: Object.values(shares), bodyBytes },
    ...{ running: () => worker?.running ?? 0, pausedExecutions: () => promptBytes.paused },
    executionBytes: () => promptBytes.used + (worker?.inputBytes ?? 0),
  });
  const log = executionLog(deps.logger);
  const reports = endReports(metrics, log);
  const compute = createComputeLanes();
  const progressDeps = { definitions: definitionCache(), values: valueCache(), notifications };
  const finisher = createFinisher({
    ...{ ...progressDeps, pipelines, singlePipelines },
    progressed: (...progress) => workflows.progressed(...progress),
    onEnded(executions) {
      for (const one of executions) reports.executionEnded(one);
      batches?.slotsFreed();
    },
    onBatch: (size) => metrics.transactionObserved('finish', size),
  });
  const template = templateCache((id) => readTemplate(workDb, id));
  const { models, providerHealth } = observedModels(deps, connections, failures, metrics);
  const promptBytes = new ByteShares(Math.floor(deps.config.executionBytes * (1 - inputsPart)));
  const execute = {
    ...{ models, template, streams, compute, bytes: promptBytes },
    ...permits(workDb, prices, createReserveCall({ pipelines, notifications })),
    ...{ onFault: log.executionFaulted, onUnreadableField: log.responseUnreadable },
  };
  const worker =
    deps.role === 'api'
      ? null
      : connectWorker(deps, connections, failures, {
          ...{ finisher, execute, tools: deps.tools ?? tools.sender },
          onSilence: () => events?.sender.abortAll(),
        });
  const events = worker && connectSender(deps, connections, failures, { worker, metrics });
  const admission = createAdmission({
    ...{ pipelines, compute, template, prices, testingLimits, notifications, allowedHosts },
    slots: worker?.slots ?? null,
    onBatch: (size) => metrics.transactionObserved('admission', size),
  });
  const cancelerOn = (db: Db) => createCanceler({ db, finisher, template, streams });
  const canceler = cancelerOn(db);
  const lineDeps = { canceler, template, notifications };
  const batches =
    worker && startBatches(deps, connections, failures, { worker, metrics, ...lineDeps });
  const workflows = createWorkflows({
    ...progressDeps,
    ...{ db: workDb, pipelines, singlePipelines, compute, admission, canceler, testingLimits },
    onEnded: reports.workflowRunEnded,
    onFault: failures.reporter('workflow run crashed'),
    onError: failures.reporter('workflow step failed'),
  });
  subscribe(notifications, { waiters, streams, worker, batches, sender: events?.sender ?? null });
  return {
    ...{ connections, compute, notifications, metrics, worker, finisher, events, providerHealth },
    ...{ admission, cancelerOn, workflows, batches, shares, waiters, tools },
    ...{ streams, callBytes, bodyBytes, template },
    openCalls: announcedOpenCalls(notifications, shares.toolCalls),
  };
}

/** Counts and logs what has ended. */
function endReports(metrics: Metrics, log: ReturnType<typeof executionLog>) {
  return {
    executionEnded(execution: EndedExecution): void {
      metrics.executionEnded(execution);
      log.executionEnded(execution);
    },
    workflowRunEnded(run: EndedWorkflowRun): void {
      metrics.workflowRunEnded(run.end.status);
      log.workflowRunEnded(run);
    },
  };
}

/** Who acts at once on what has changed, here or in another process. */
function subscribe(
  { subscribe: on }: Notifications,
  {
    waiters,
    streams,
    worker,
    batches,
    sender,
  }: {
    readonly waiters: Waiters;
    readonly streams: LiveStreams;
    readonly worker: Worker | null;
    readonly batches: BatchRunner | null;
    readonly sender: EventSender | null;
  },
): void {
  on('cueline_execution_ended', waiters.wake);
  on('cueline_execution_ended', streams.wake);
  on('cueline_execution_streamed', streams.wake);
  on('cueline_workflow_run_advanced', streams.wake);
  on('cueline_workflow_run_ended', waiters.wake);
  on('cueline_workflow_run_ended', streams.wake);
  if (sender) on('cueline_event_queued', () => sender.wake());
  if (batches) on('cueline_batch_uploaded', () => batches.wake());
  if (!worker) return;
  on('cueline_execution_queued', () => worker.wake());
  on('cueline_execution_canceled', (executionIds) => worker.cancel(executionIds));
}

function processMetrics(
  { db, providers }: WiringDeps,
  failures: BackgroundFailures,
  gauges: Omit<
    Gauges,
    'queue' | 'searchLag' | 'foldLag' | 'events' | 'waitingLines' | 'providers' | 'onError'
  >,
): Metrics {
  return createMetrics({
    ...gauges,
    queue: () => queueDepth(db),
    searchLag: () => readSearchLag(db),
    foldLag: () => readFoldLag(db),
    events: () => countEndpointStates(db),
    waitingLines: () => countWaitingLines(db),
    providers: () => providersOpen(providers?.() ?? []),
    onError: failures.reporter('database metrics failed'),
  });
}

/** Starts lines of batches in the slots of the worker. */
function startBatches(
  { config, prices }: WiringDeps,
  { workDb: db, singlePipelines: pipelines }: Connections,
  failures: BackgroundFailures,
  {
    worker,
    metrics,
    ...more
  }: { worker: Worker; metrics: Metrics } & Pick<
    BatchRunnerDeps,
    'canceler' | 'template' | 'notifications'
  >,
): BatchRunner {
  return createBatchRunner({
    db,
    pipelines,
    prices,
    testingLimits: config.testingLimits,
    slots: worker.slots,
    ...more,
    onStarted: metrics.linesStarted,
    onError: failures.reporter('batch admission failed'),
  });
}

/** Calls of tools that other processes can cancel. */
function announcedOpenCalls(notifications: Notifications, shares: Shares) {
  const channel = 'cueline_tool_call_canceled';
  const openCalls = new OpenCalls((names) => notifications.publish(channel, names), shares);
  notifications.subscribe(channel, (names) => openCalls.cancelLocal(names));
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
    readonly tools: ToolPort;
    readonly onSilence: () => void;
  },
): Worker {
  const { workDb, leasePipelines, pipelines } = connections;
  return createWorker({
    ...{ db: workDb, leasePipelines, finisher: work.finisher },
    execute: {
      ...work.execute,
      earlierMessages: earlierMessages(workDb),
      toolLoop: {
        ...{ tools: work.tools, bytes: work.execute.bytes, onError: failures.reportOperation },
        ...{ reads: createStepReads(workDb), writes: createStepWrites(pipelines) },
      },
    },
    slots: config.slots,
    inputBytes: Math.floor(config.executionBytes * inputsPart),
    leaseMs: config.leaseMs,
    onSilence() {
      onSilence();
      // These connections are dead. The first statement afterwards must not have to find out.
      connections.dropIdle();
      db.dropIdle();
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
  const { post, close } = createPostEvent({ allowedHosts, proxies, hideSecrets });
  const sender = createEventSender({
    db: eventDb,
    pipelines: eventPipelines,
    post,
    sealKey: deriveSealKey(secret),
    version,
    lease: worker.slots.lease,
    onAttempt: metrics.deliveryAttempted,
    onError: failures.reporter('event delivery failed'),
  });
  return { sender, close };
}
