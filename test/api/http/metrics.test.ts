import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { errorResponse } from '../../../src/api/http/error-response.ts';
import { countExecuteCalls, createMetrics, type Metrics } from '../../../src/api/http/metrics.ts';
import { send } from '../../../src/api/http/route.ts';
import { CallFailure } from '../../../src/core/failure.ts';
import { still } from '../system-app.ts';

test('counts what it is told, each process for itself', async () => {
  const metrics = createMetrics(still);
  metrics.accepted();
  metrics.accepted();
  metrics.refused('QUOTA_EXCEEDED');
  metrics.ended({ status: 'success', startedMs: 5, latencyMs: 1_500 });
  metrics.ended({ status: 'canceled', startedMs: null, latencyMs: 0 });
  metrics.workflowRunEnded('failed');
  metrics.batch('admission', 3);
  metrics.batch('finish', 500);
  metrics.modelCalled({ provider: 'openai', outcome: 'MODEL_TIMEOUT', seconds: 0.2 });
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
    'cueline_model_call_duration_seconds_bucket{le="0.1",provider="openai",outcome="MODEL_TIMEOUT"} 0',
    'cueline_model_call_duration_seconds_bucket{le="0.25",provider="openai",outcome="MODEL_TIMEOUT"} 1',
  ]) {
    assert.ok(text.split('\n').includes(line), line);
  }
  assert.doesNotMatch(text, /duration_seconds\w*\{[^}]*canceled/);
  assert.match(text, /^process_cpu_seconds_total /m);
  assert.match(await createMetrics(still).text(), /^cueline_executions_accepted_total 0$/m);
});

test('gauges are read when they are scraped, the database once for several scrapes', async () => {
  let reads = 0;
  const metrics = createMetrics({
    running: () => 7,
    providers: () => new Map([['openai', 2]]),
    async queue() {
      reads++;
      return { depth: 12, oldestMs: 3_400 };
    },
  });
  assert.equal(reads, 0);
  const [text] = await Promise.all([metrics.text(), metrics.text()]);
  assert.match(text, /^cueline_executions_running 7$/m);
  assert.match(text, /^cueline_provider_circuits_open\{provider="openai"\} 2$/m);
  assert.match(text, /^cueline_queue_depth 12$/m);
  assert.match(text, /^cueline_queue_oldest_age_seconds 3.4$/m);
  assert.equal(reads, 1);
});

test('without the database the queue is unknown, and the rest still answers', async () => {
  const queue = async () => {
    throw new Error('away');
  };
  const told: unknown[] = [];
  const onError = (error: unknown) => told.push(error);
  const text = await createMetrics({ ...still, queue, onError }).text();
  assert.deepEqual(told.map(String), ['Error: away']);
  assert.doesNotMatch(text, /^cueline_queue/m);
  assert.match(text, /^cueline_executions_running 0$/m);
});

test('calls to execute are counted by what they were answered', async (t) => {
  const told: string[] = [];
  const metrics: Pick<Metrics, 'accepted' | 'refused'> = {
    accepted: () => told.push('accepted'),
    refused: (code) => told.push(code),
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
      if (as === 'fault') throw new Error('a fault');
      if (as === 'thrown') throw new CallFailure('UNAVAILABLE', 'Away: "code":"NOT_FOUND".');
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
    '/api/agents/a/execute?as=fault',
    '/else?as=accepted',
    '/else?as=thrown',
  ]) {
    await fetch(url + path, { method: 'POST' });
  }
  await fetch(`${url}/api/v1/agents/a/execute`, { method: 'GET' });
  assert.deepEqual(told, ['accepted', 'accepted', 'UNAVAILABLE', 'INTERNAL']);
});
