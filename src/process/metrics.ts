import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { EndedExecution } from '../core/execution/ended-execution.ts';
import { type CallFailureCode, callFailureCodes } from '../core/failure.ts';
import type { Shares } from '../core/shares.ts';
import type { WorkflowRunStatus } from '../core/workflow/definition.ts';
import type { Admitted } from '../engine/admit/admit.ts';
import { createChatCompletion, createResponse } from '../faces/openai/openai.ts';
import {
  executeAgent,
  executeAgentInDashboard,
} from '../features/executions/contract/executions-contract.ts';
import type { BodyBytes } from '../http/limits/body-bytes.ts';
import { failureCodeIn } from '../http/response/openai-error.ts';
import { routePath } from '../http/route.ts';
import { cached, withTimeout } from '../http/ttl-cache.ts';

/** `unanswered`: no connection, or no answer in time. */
export type DeliveryOutcome = 'delivered' | 'failed' | 'unanswered';

/** Values that are read at each scrape. */
export interface Gauges {
  readonly running: () => number;
  /** Bytes held for readers of streams. */
  readonly streamBytes: () => number;
  readonly executionBytes: () => number;
  readonly pausedExecutions: () => number;
  readonly bodyBytes: Pick<BodyBytes, 'used' | 'refusals'>;
  readonly pausedStreams: () => number;
  readonly queue: () => Promise<Queue>;
  /** How far the search index is behind, in seconds. */
  readonly searchLag: () => Promise<number>;
  /** How long the oldest cost has waited to be added to its budgets, in seconds. */
  readonly foldLag: () => Promise<number>;
  readonly events: () => Promise<EventTotals>;
  /** Lines of batches that wait for their start. */
  readonly waitingLines: () => Promise<number>;
  /** What workspaces share. */
  readonly shares: readonly Shares[];
  /** Number of open circuits by provider. */
  readonly providers: () => ReadonlyMap<string, number>;
  /** Called if the queue, a lag, the events or the batches could not be read; their metrics are then absent. */
  readonly onError?: (error: unknown) => void;
}

interface Queue {
  readonly depth: number;
  readonly oldestMs: number;
}

interface EventTotals {
  readonly pending: number;
  readonly disabled: number;
}

const readingKeptMs = 5_000;
const readingTimeoutMs = 2_000;

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of one process, in its own registry. The values of every label come from a closed list. */
export function createMetrics(gauges: Gauges) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerGauges(registry, gauges);
  registerQueueGauges(registry, gauges);
  registerShares(registry, gauges);
  const counts = createCounts(registry);
  return {
    executionAccepted: () => counts.accepted.inc(),
    executionRefused: (code: CallFailureCode) => counts.refused.inc({ code }),
    executionEnded({
      status,
      startedMs,
      latencyMs,
    }: Pick<EndedExecution, 'status' | 'startedMs' | 'latencyMs'>) {
      counts.ended.inc({ status });
      if (startedMs !== null) counts.duration.observe({ status }, latencyMs / 1_000);
    },
    workflowRunEnded: (status: WorkflowRunStatus) => counts.workflowRunsEnded.inc({ status }),
    transactionObserved: (kind: 'admission' | 'finish' | 'read', size: number) =>
      counts.batchSize.observe({ kind }, size),
    modelCallEnded: (call: { provider: string; outcome: string; seconds: number }) =>
      counts.modelCallDuration.observe(
        { provider: call.provider, outcome: call.outcome },
        call.seconds,
      ),
    deliveryAttempted: (outcome: DeliveryOutcome) => counts.attempts.inc({ outcome }),
    linesStarted: (count: number) => counts.linesStarted.inc(count),
    /** Media type of `text`. */
    contentType: registry.contentType as string,
    /** All metrics in the format of Prometheus. */
    text: () => registry.metrics(),
  };
}

function createCounts(registry: Registry) {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: Label[]
  ) => new Histogram({ name, help, labelNames, buckets, registers });
  return {
    accepted: counter('cueline_executions_accepted_total', 'Accepted executions, without replays.'),
    refused: counter(
      'cueline_executions_refused_total',
      'Refused executions by the code of the response.',
      'code',
    ),
    ended: counter(
      'cueline_executions_ended_total',
      'Executions that this process ended, by status.',
      'status',
    ),
    duration: histogram(
      'cueline_execution_duration_seconds',
      'Time from the first attempt to the end, by status. Excludes executions that never started.',
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600],
      'status',
    ),
    workflowRunsEnded: counter(
      'cueline_workflow_runs_ended_total',
      'Workflow runs that this process ended, by status.',
      'status',
    ),
    modelCallDuration: histogram(
      'cueline_model_call_duration_seconds',
      'Duration of model calls by provider and outcome.',
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300],
      'provider',
      'outcome',
    ),
    attempts: counter(
      'cueline_delivery_attempts_total',
      'Attempts of this process to deliver events, by outcome.',
      'outcome',
    ),
    linesStarted: counter(
      'cueline_batch_lines_started_total',
      'Lines of uploaded batches that this process started.',
    ),
    batchSize: histogram(
      'cueline_batch_size',
      'Executions admitted or ended together, or keys, agents and records read together.',
      [1, 2, 5, 10, 20, 50, 100, 200, 500],
      'kind',
    ),
  };
}

function registerGauges(registry: Registry, gauges: Gauges): void {
  const registers = [registry];
  const register = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  register('cueline_executions_running', 'Executions that this process runs now.', gauges.running);
  register(
    'cueline_stream_bytes_held',
    'Bytes that this process holds for readers of streams, at two for each character.',
    gauges.streamBytes,
  );
  register(
    'cueline_body_bytes_held',
    'Bytes of request bodies that this process holds.',
    () => gauges.bodyBytes.used,
  );
  register(
    'cueline_execution_bytes_held',
    'Bytes that this process holds for running executions: inputs, prompts and answers.',
    gauges.executionBytes,
  );
  register(
    'cueline_executions_paused',
    'Executions in a slot that wait for room for their prompts.',
    gauges.pausedExecutions,
  );
  register(
    'cueline_streams_paused',
    'Readers of streams that wait until enough bytes of their workspace are free.',
    gauges.pausedStreams,
  );
  new Counter({
    name: 'cueline_body_refusals_total',
    help: 'Requests whose bodies had no room.',
    registers,
    collect() {
      this.reset();
      this.inc(gauges.bodyBytes.refusals);
    },
  });
  new Gauge({
    name: 'cueline_provider_circuits_open',
    help: 'Open circuits of this process by provider: credentials that are paused after failures.',
    labelNames: ['provider'],
    registers,
    collect() {
      this.reset();
      for (const [provider, open] of gauges.providers()) this.set({ provider }, open);
    },
  });
}

/** Which share is full, and how often that refused a request. */
function registerShares(registry: Registry, { shares }: Gauges): void {
  const registers = [registry];
  new Gauge({
    name: 'cueline_share_slots',
    registers,
    labelNames: ['resource'],
    help: 'Slots of this process by what they are for. A workspace uses at most all but a tenth.',
    collect() {
      for (const { resource, max } of shares) this.set({ resource }, max);
    },
  });
  new Gauge({
    name: 'cueline_share_slots_used',
    registers,
    labelNames: ['resource'],
    help: 'Of these, the slots in use.',
    collect() {
      for (const { resource, used } of shares) this.set({ resource }, used);
    },
  });
  new Counter({
    name: 'cueline_share_refusals_total',
    registers,
    labelNames: ['resource', 'scope'],
    help: 'Requests without a slot: their workspace used its share, or no slot of the process was free.',
    collect() {
      this.reset();
      for (const { resource, refusals } of shares) {
        for (const [scope, count] of Object.entries(refusals)) this.inc({ resource, scope }, count);
      }
    },
  });
}

/** The queues belong to the whole database, so every process reports the same values. */
function registerQueueGauges(
  registry: Registry,
  { queue, searchLag, foldLag, events, waitingLines, onError }: Gauges,
): void {
  const register = readGauges(registry, queue, onError);
  register('cueline_queue_depth', 'Queued executions without a worker.', ({ depth }) => depth);
  register(
    'cueline_queue_oldest_age_seconds',
    'Waiting time of the oldest execution that is ready to run.',
    ({ oldestMs }) => oldestMs / 1_000,
  );
  readGauges(registry, searchLag, onError)(
    'cueline_search_lag_seconds',
    'How long the oldest record has been waiting for the search index.',
    (seconds) => seconds,
  );
  readGauges(registry, foldLag, onError)(
    'cueline_budget_fold_lag_seconds',
    'How long the oldest cost of a call has been waiting to be added to its budgets.',
    (seconds) => seconds,
  );
  const registerEvents = readGauges(registry, events, onError);
  registerEvents(
    'cueline_deliveries_pending',
    'Deliveries of events that wait for an attempt or its outcome.',
    ({ pending }) => pending,
  );
  readGauges(registry, waitingLines, onError)(
    'cueline_batch_lines_waiting',
    'Lines of uploaded batches that wait for their start.',
    (lines) => lines,
  );
  registerEvents('cueline_endpoints_disabled', 'Disabled endpoints.', ({ disabled }) => disabled);
}

/** Gauges of values that one read returns. They are absent if it fails. */
function readGauges<Values>(
  registry: Registry,
  read: () => Promise<Values>,
  onError: Gauges['onError'],
) {
  const values = cached(
    () =>
      withTimeout(read(), readingTimeoutMs).catch((error: unknown) => {
        onError?.(error);
        return null;
      }),
    readingKeptMs,
  );
  return (name: string, help: string, value: (values: Values) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const current = await values();
        if (current !== null) this.set(value(current));
        else this.remove();
      },
    });
}

/**
 * Counts execute requests by their response. Most refusals are values of admission, but a malformed key and an unavailable
 * database throw before or after it.
 */
export function countExecuteCalls(
  app: FastifyInstance,
  metrics: Pick<Metrics, 'executionAccepted' | 'executionRefused'>,
): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.method === 'POST' && executePaths.has(request.routeOptions.url)) {
      // 200 for a client that asked for the stream; 502 and 504 for an accepted execution that failed.
      if (reply.statusCode < 300 || reply.statusCode === 502 || reply.statusCode === 504) {
        if (!reply.hasHeader('idempotent-replayed')) metrics.executionAccepted();
      } else {
        metrics.executionRefused(codeOf(payload));
      }
    }
    done(null, payload);
  });
}

/** Counts a call over another protocol, whose response has another form. */
export function countAdmitted(
  metrics: Pick<Metrics, 'executionAccepted' | 'executionRefused'>,
  admitted: Admitted,
): void {
  if (admitted.kind === 'refused') metrics.executionRefused(admitted.code);
  else if (!admitted.replayed) metrics.executionAccepted();
}

const executePaths: ReadonlySet<string | undefined> = new Set([
  routePath(executeAgent),
  routePath(executeAgentInDashboard),
  routePath(createResponse),
  routePath(createChatCompletion),
]);

function codeOf(payload: unknown): CallFailureCode {
  const body = JSON.parse(String(payload)) as { code?: unknown; error?: unknown };
  if (typeof body.error === 'object') return failureCodeIn(body) ?? 'INTERNAL';
  return callFailureCodes.find((one) => one === body.code) ?? 'INTERNAL';
}
