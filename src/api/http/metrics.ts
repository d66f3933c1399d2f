import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { executeAgent, executeAgentInDashboard } from '../../contract/executions/executions.ts';
import { type CallFailureCode, callFailureCodes } from '../../core/failure.ts';
import type { WorkflowRunStatus } from '../../core/workflow/definition.ts';
import type { EndedExecution } from '../../store/execution/finish.ts';
import { routePath } from './route.ts';
import { cached, withTimeout } from './ttl-cache.ts';

/**
 * The metrics of one process, in a registry of its own. The engine knows none of this: it is given plain functions.
 * Every label takes its values from a closed list.
 */
export interface Metrics {
  accepted(): void;
  refused(code: CallFailureCode): void;
  ended(run: Pick<EndedExecution, 'status' | 'startedMs' | 'latencyMs'>): void;
  workflowRunEnded(status: WorkflowRunStatus): void;
  batch(kind: 'admission' | 'finish' | 'read', size: number): void;
  /** `provider` and `outcome` must come from closed lists. */
  modelCalled(call: { provider: string; outcome: string; seconds: number }): void;
  /** The text that Prometheus reads, and its media type. */
  readonly contentType: string;
  text(): Promise<string>;
}

/** What is read when the metrics are. */
export interface Gauges {
  readonly running: () => number;
  readonly queue: () => Promise<Queue>;
  /** For each provider by its name, from a closed list: with how many credentials it is left alone. */
  readonly providers: () => ReadonlyMap<string, number>;
  /** Told when the queue could not be read; its metrics are absent then. */
  readonly onError?: (error: unknown) => void;
}

interface Queue {
  readonly depth: number;
  readonly oldestMs: number;
}

const queueKeptMs = 5_000;
const queueTimeoutMs = 2_000;

export function createMetrics(gauges: Gauges): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const accepted = new Counter({
    name: 'cueline_executions_accepted_total',
    help: 'Calls that were accepted, replays not counted.',
    registers,
  });
  const refused = new Counter({
    name: 'cueline_executions_refused_total',
    help: 'Calls to execute that were refused, by the code of the answer.',
    labelNames: ['code'],
    registers,
  });
  const ended = new Counter({
    name: 'cueline_executions_ended_total',
    help: 'Executions that this process ended, by status.',
    labelNames: ['status'],
    registers,
  });
  const duration = new Histogram({
    name: 'cueline_execution_duration_seconds',
    help: 'From the first start of work to the end, by status; executions that never started are left out.',
    labelNames: ['status'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600],
    registers,
  });
  const runsEnded = new Counter({
    name: 'cueline_workflow_runs_ended_total',
    help: 'Runs of workflows that this process ended, by status.',
    labelNames: ['status'],
    registers,
  });
  const modelCall = new Histogram({
    name: 'cueline_model_call_duration_seconds',
    help: 'One call to a model, by provider and by how it went.',
    labelNames: ['provider', 'outcome'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300],
    registers,
  });
  const batch = new Histogram({
    name: 'cueline_batch_size',
    help: 'Calls admitted, executions ended, or keys, agents and records read together.',
    labelNames: ['kind'],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  });
  new Gauge({
    name: 'cueline_executions_running',
    help: 'Executions that this process works on now.',
    registers,
    collect() {
      this.set(gauges.running());
    },
  });
  new Gauge({
    name: 'cueline_provider_circuits_open',
    help: 'Credentials with which this process leaves the provider alone now, after failures.',
    labelNames: ['provider'],
    registers,
    collect() {
      this.reset();
      for (const [provider, open] of gauges.providers()) this.set({ provider }, open);
    },
  });
  // Of the whole database, so every process says the same.
  const queue = cached(
    () =>
      withTimeout(gauges.queue(), queueTimeoutMs).catch((error: unknown) => {
        gauges.onError?.(error);
        return null;
      }),
    queueKeptMs,
  );
  gaugeOfQueue('cueline_queue_depth', 'Executions that no process works on yet.', (of) => of.depth);
  gaugeOfQueue(
    'cueline_queue_oldest_age_seconds',
    'How long the oldest execution that is ready to run has waited.',
    (of) => of.oldestMs / 1_000,
  );

  function gaugeOfQueue(name: string, help: string, value: (of: Queue) => number): void {
    new Gauge({
      ...{ name, help, registers },
      async collect() {
        const state = await queue();
        if (state) this.set(value(state));
        else this.remove();
      },
    });
  }

  return {
    accepted: () => accepted.inc(),
    refused: (code) => refused.inc({ code }),
    ended({ status, startedMs, latencyMs }) {
      ended.inc({ status });
      if (startedMs !== null) duration.observe({ status }, latencyMs / 1_000);
    },
    workflowRunEnded: (status) => runsEnded.inc({ status }),
    batch: (kind, size) => batch.observe({ kind }, size),
    modelCalled: ({ seconds, ...labels }) => modelCall.observe(labels, seconds),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

/**
 * Counts calls to execute by what they were answered, whichever way the answer came about: a refusal is a value in
 * admission, but it is thrown before (a key of the wrong form) and around it (a database that is away).
 */
export function countExecuteCalls(
  app: FastifyInstance,
  metrics: Pick<Metrics, 'accepted' | 'refused'>,
): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.method === 'POST' && executePaths.has(request.routeOptions.url)) {
      if (reply.statusCode === 202) {
        if (!reply.hasHeader('idempotent-replayed')) metrics.accepted();
      } else {
        metrics.refused(codeOf(payload));
      }
    }
    done(null, payload);
  });
}

const executePaths: ReadonlySet<string | undefined> = new Set([
  routePath(executeAgent),
  routePath(executeAgentInDashboard),
]);

function codeOf(payload: unknown): CallFailureCode {
  const { code } = JSON.parse(String(payload)) as { code?: unknown };
  return callFailureCodes.find((one) => one === code) ?? 'INTERNAL';
}
