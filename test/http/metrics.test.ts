import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { idleGauges } from '../../harness/system-app.ts';
import { CallFailure } from '../../src/core/failure.ts';
import { Shares } from '../../src/core/shares.ts';
import { errorResponse } from '../../src/http/response/error-response.ts';
import { send } from '../../src/http/route.ts';
import { countExecuteCalls, createMetrics, type Metrics } from '../../src/process/metrics.ts';

test('metrics count the events of one process', async () => {
  const metrics = createMetrics(idleGauges);
  metrics.executionAccepted();
  metrics.executionAccepted();
  metrics.executionRefused('QUOTA_EXCEEDED');
  metrics.executionEnded({ status: 'success', startedMs: 5, latencyMs: 1_500 });
  metrics.executionEnded({ status: 'canceled', startedMs: null, latencyMs: 0 });
  metrics.workflowRunEnded('failed');
  metrics.transactionObserved('admission', 3);
  metrics.transactionObserved('finish', 500);
  metrics.linesStarted(20);
  metrics.modelCallEnded({ provider: 'openai', outcome: 'MODEL_TIMEOUT', seconds: 0.2 });
  const text = await metrics.text();
  for (const line of [
    'cueline_executions_accepted_total 2',
    'cueline_executions_refused_total{code="QUOTA_EXCEEDED"} 1',
    'cueline_executions_ended_total{status="success"} 1',
    'cueline_executions_ended_total{status="canceled"} 1',
    'cueline_execution_duration_seconds_sum{status="success"} 1.5',
    'cueline_workflow_runs_ended_total{status="failed"} 1',
    'cueline_batch_size_bucket{le="2",kind="admission"} 0',
    'cueline_batch_size_bucket{le="5",kind="admission"} 1',
    'cueline_batch_size_bucket{le="500",kind="finish"} 1',
    'cueline_batch_lines_started_total 20',
    'cueline_model_call_duration_seconds_bucket{le="0.1",provider="openai",outcome="MODEL_TIMEOUT"} 0',
    'cueline_model_call_duration_seconds_bucket{le="0.25",provider="openai",outcome="MODEL_TIMEOUT"} 1',
  ]) {
    assert.ok(text.split('\n').includes(line), line);
  }
  assert.doesNotMatch(text, /duration_seconds\w*\{[^}]*canceled/);
  assert.match(text, /^process_cpu_seconds_total /m);
  assert.match(await createMetrics(idleGauges).text(), /^cueline_executions_accepted_total 0$/m);
});

test('gauges are read at each scrape, and the database once for concurrent scrapes', async () => {
  let reads = 0;
  const uploads = new Shares({ resource: 'uploads', max: 2 });
  uploads.take('a');
  uploads.tryTake('a');
  const metrics = createMetrics({
    running: () => 7,
    shares: [uploads],
    streamBytes: () => 12,
    pausedStreams: () => 3,
    executionBytes: () => 34,
    pausedExecutions: () => 6,
    bodyBytes: { used: 56, refusals: 2 },
    searchLag: async () => 4.5,
    foldLag: async () => 6.5,
    providers: () => new Map([['openai', 2]]),
    events: async () => ({ pending: 3, disabled: 1 }),
    waitingLines: async () => 70,
    async queue() {
      reads++;
      return { depth: 12, oldestMs: 3_400 };
    },
  });
  assert.equal(reads, 0);
  const [text] = await Promise.all([metrics.text(), metrics.text()]);
  assert.match(text, /^cueline_executions_running 7$/m);
  assert.match(text, /^cueline_provider_circuits_open\{provider="openai"\} 2$/m);
  assert.match(text, /^cueline_share_slots\{resource="uploads"\} 2$/m);
  assert.match(text, /^cueline_share_slots_used\{resource="uploads"\} 1$/m);
  assert.match(text, /^cueline_share_refusals_total\{resource="uploads",scope="workspace"\} 1$/m);
  assert.match(text, /^cueline_share_refusals_total\{resource="uploads",scope="process"\} 0$/m);
  assert.match(text, /^cueline_execution_bytes_held 34$/m);
  assert.match(text, /^cueline_executions_paused 6$/m);
  assert.match(text, /^cueline_body_bytes_held 56$/m);
  assert.match(text, /^cueline_body_refusals_total 2$/m);
  assert.match(text, /^cueline_queue_depth 12$/m);
  assert.match(text, /^cueline_deliveries_pending 3$/m);
  assert.match(text, /^cueline_endpoints_disabled 1$/m);
  assert.match(text, /^cueline_batch_lines_waiting 70$/m);
  assert.match(text, /^cueline_queue_oldest_age_seconds 3.4$/m);
  assert.match(text, /^cueline_search_lag_seconds 4.5$/m);
  assert.match(text, /^cueline_budget_fold_lag_seconds 6.5$/m);
  assert.equal(reads, 1);
});

test('without the database, only the metrics of the queue are absent', async () => {
  const queue = async () => {
    throw new Error('unavailable');
  };
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const text = await createMetrics({ ...idleGauges, queue, onError }).text();
  assert.deepEqual(errors.map(String), ['Error: unavailable']);
  assert.doesNotMatch(text, /^cueline_queue/m);
  assert.match(text, /^cueline_executions_running 0$/m);
});

test('execute requests are counted by their response', async (t) => {
  const counted: string[] = [];
  const metrics: Pick<Metrics, 'executionAccepted' | 'executionRefused'> = {
    executionAccepted: () => counted.push('accepted'),
    executionRefused: (code) => counted.push(code),
  };
  const app = Fastify();
  t.after(() => app.close());
  countExecuteCalls(app, metrics);
  app.setErrorHandler((error, request, reply) => {
    const failure =
      error instanceof CallFailure ? error : new CallFailure('INTERNAL', 'Internal error.');
    send(reply, errorResponse(failure, request.id));
  });
  for (const path of ['/api/v1/agents/:agentId/execute', '/api/agents/:agentId/execute', '/else']) {
    app.post(path, async (request, reply) => {
      const { as } = request.query as { as: string };
      if (as === 'error') throw new Error('unexpected');
      if (as === 'thrown') throw new CallFailure('UNAVAILABLE', 'Unavailable: "code":"NOT_FOUND".');
      if (as === 'replayed') reply.header('idempotent-replayed', 'true');
      send(reply, { status: 202, body: {} });
      return reply;
    });
  }
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  for (const path of [
    '/api/v1/agents/a/execute?as=accepted',
    '/api/agents/a/execute?as=accepted',
    '/api/v1/agents/a/execute?as=replayed',
    '/api/v1/agents/a/execute?as=thrown',
    '/api/agents/a/execute?as=error',
    '/else?as=accepted',
    '/else?as=thrown',
  ]) {
    await fetch(url + path, { method: 'POST' });
  }
  await fetch(`${url}/api/v1/agents/a/execute`, { method: 'GET' });
  assert.deepEqual(counted, ['accepted', 'accepted', 'UNAVAILABLE', 'INTERNAL']);
});
