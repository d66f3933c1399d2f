import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '../../src/client/client-retry.ts';
import { cut, failure, json, problem, reset, type Step, silence, stage } from './server.ts';

const agent = 'agt_1';
const usage = json(200, { month: '2026-11' });
const accepted = json(202, { executionId: 'exe_1' });
const seconds = (n: number) => ({ headers: { 'retry-after': String(n) } });

const transientFailures: [string, Step][] = [
  ['a limit', problem(429, 'RATE_LIMIT_EXCEEDED', seconds(2))],
  ['a server that is not ready', problem(503, 'UNAVAILABLE', seconds(2))],
  ['a proxy without a server', (response) => response.writeHead(502).end('Bad gateway')],
  ['a broken connection', reset],
  ['a broken answer', cut],
];
for (const [name, step] of transientFailures) {
  test(`a read is retried after ${name}`, async (t) => {
    const { requests, delays, client } = await stage(t, step, step, usage);
    assert.equal((await client().usage()).month, '2026-11');
    assert.equal(requests.length, 3);
    assert.equal(delays.length, 2);
  });
}

test('Retry-After is the minimum delay, in seconds or as a date', async (t) => {
  const date = new Date(Date.now() + 30_000).toUTCString();
  const { delays, client } = await stage(
    t,
    problem(429, 'RATE_LIMIT_EXCEEDED', seconds(7)),
    problem(503, 'UNAVAILABLE', { headers: { 'retry-after': date } }),
    usage,
  );
  await client().usage();
  assert.ok((delays[0] ?? 0) >= 7_000);
  assert.ok((delays[1] ?? 0) > 1_000);
});

test('a long Retry-After is returned to the caller', async (t) => {
  const { requests, client } = await stage(t, problem(429, 'QUOTA_EXCEEDED', seconds(864_000)));
  const error = await failure(client().execute(agent, {}, { idempotencyKey: 'k' }));
  assert.equal(error.code, 'QUOTA_EXCEEDED');
  assert.equal(error.retryAfterMs, 864_000_000);
  assert.equal(requests.length, 1);
});

test('after the last attempt, the last failure is thrown', async (t) => {
  const { requests, client } = await stage(
    t,
    reset,
    reset,
    problem(503, 'UNAVAILABLE', seconds(1)),
  );
  const error = await failure(client({ retries: 2 }).usage());
  assert.equal(error.code, 'UNAVAILABLE');
  assert.equal(requests.length, 3);
});

test('client errors are not retried', async (t) => {
  const { requests, client } = await stage(t, problem(404, 'NOT_FOUND'), usage);
  assert.equal((await failure(client().usage())).status, 404);
  assert.equal(requests.length, 1);
});

const ambiguous: [string, Step, string][] = [
  ['a broken connection', reset, 'CONNECTION_FAILED'],
  ['a gateway that gave up', (r) => r.writeHead(504).end(), 'UNEXPECTED_ANSWER'],
  ['an unknown outcome', problem(503, 'OUTCOME_UNKNOWN', seconds(1)), 'OUTCOME_UNKNOWN'],
];
for (const [name, step, code] of ambiguous) {
  test(`after ${name}, an execute call without an idempotency key is not retried`, async (t) => {
    const { requests, client } = await stage(t, step, accepted);
    const error = await failure(client().execute(agent, {}));
    assert.equal(error.code, code);
    assert.equal(requests.length, 1);
  });

  test(`after ${name}, an execute call with an idempotency key is retried`, async (t) => {
    const { requests, client } = await stage(t, step, accepted);
    const { executionId } = await client().execute(agent, {}, { idempotencyKey: 'k' });
    assert.equal(executionId, 'exe_1');
    assert.deepEqual(
      requests.map(({ headers }) => headers['idempotency-key']),
      ['k', 'k'],
    );
  });
}

test('a call that the server did not process is retried without a key', async (t) => {
  const refused = problem(503, 'UNAVAILABLE', seconds(1));
  const limited = problem(429, 'RATE_LIMIT_EXCEEDED', seconds(1));
  const { requests, client } = await stage(t, refused, limited, accepted);
  assert.equal((await client().execute(agent, {})).executionId, 'exe_1');
  assert.equal(requests.length, 3);
});

test('a server without a response times out', async (t) => {
  const { requests, client } = await stage(t, silence);
  const error = await failure(client({ requestTimeoutMs: 20, retries: 1 }).usage());
  assert.equal(error.code, 'TIMEOUT');
  assert.equal(error.status, 0);
  assert.ok(requests.length <= 2);
});

test('an abort ends a request with its own reason', async (t) => {
  const reason = new Error('changed my mind');
  const abort = new AbortController();
  const { requests, client } = await stage(t, () => abort.abort(reason));
  await assert.rejects(client().usage({ signal: abort.signal }), reason);
  assert.equal(requests.length, 1);
});

test('an abort ends the delay between two attempts', async (t) => {
  const reason = new Error('changed my mind');
  const abort = new AbortController();
  const { requests, client } = await stage(t, problem(429, 'RATE_LIMIT_EXCEEDED', seconds(50)));
  const call = client({
    sleep: (ms, signal) => {
      abort.abort(reason);
      return sleep(ms, signal);
    },
  }).usage({ signal: abort.signal });
  await assert.rejects(call, reason);
  assert.equal(requests.length, 1);
});

test('an aborted request is not sent', async (t) => {
  const { requests, client } = await stage(t, usage);
  await assert.rejects(client().usage({ signal: AbortSignal.abort() }), { name: 'AbortError' });
  assert.equal(requests.length, 0);
});

test('sleep ends by itself or by an abort', async () => {
  await sleep(1, undefined);
  await sleep(1, new AbortController().signal);
  const abort = new AbortController();
  const asleep = sleep(60_000, abort.signal);
  abort.abort(new Error('awake'));
  await assert.rejects(asleep, /awake/);
});
