import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelDeferred, ModelFailure } from '../../src/core/model/model-port.ts';
import { type Breakers, createBreakers, providersOpen } from '../../src/provider/breakers.ts';

const minute = 60_000;

function through<T>(
  breakers: Breakers,
  work: () => Promise<T>,
  more: { key?: string; workspaceId?: string; timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const { key = 'one', workspaceId = 'w', timeoutMs = minute } = more;
  const { signal = new AbortController().signal } = more;
  return breakers.through({ key, provider: 'openai', workspaceId, timeoutMs, signal }, work);
}

async function failTimes(
  breakers: Breakers,
  times: number,
  error: unknown,
  more: Parameters<typeof through>[2] = {},
): Promise<void> {
  for (let i = 0; i < times; i++) {
    await assert.rejects(
      through(breakers, () => Promise.reject(error), more),
      (thrown) => thrown === error,
    );
  }
}

const broken = new ModelFailure('PROVIDER_ERROR', 'It broke.');
const never = () => assert.fail('called');

test('a failing provider opens the breaker, and the call is deferred with delay and reason', async () => {
  const breakers = createBreakers(100);
  await failTimes(breakers, 10, broken);
  const error = await through(breakers, never).then(never, (thrown) => thrown);
  assert.ok(error instanceof ModelDeferred);
  assert.ok(error.afterMs >= 500);
  assert.equal(error.code, 'PROVIDER_ERROR');
  assert.equal(error.full, false);
  assert.deepEqual([...providersOpen(breakers.states())], [['openai', 1]]);
});

test('other credentials are not affected', async () => {
  const breakers = createBreakers(100);
  await failTimes(breakers, 10, broken);
  assert.equal(await through(breakers, async () => 'there', { key: 'two' }), 'there');
});

test('Retry-After applies to every call with the credential', async () => {
  const breakers = createBreakers(100);
  const slow = new ModelFailure('PROVIDER_RATE_LIMITED', 'Slow.', { retryAfterMs: 7_000 });
  await failTimes(breakers, 1, slow);
  const error = await through(breakers, never).then(never, (thrown) => thrown);
  assert.ok(error instanceof ModelDeferred && error.afterMs > 7_000);
  assert.equal(error.code, 'PROVIDER_RATE_LIMITED');
});

test('failures caused by the caller do not open it', async () => {
  const breakers = createBreakers(100);
  await failTimes(breakers, 20, new ModelFailure('CONTEXT_LENGTH', 'Too long.'));
  await failTimes(breakers, 20, new ModelFailure('PROVIDER_ERROR', 'No.', { retryable: false }));
  const timeout = new ModelFailure('MODEL_TIMEOUT', 'It took too long.');
  await failTimes(breakers, 20, timeout, { timeoutMs: 9_999 });
  const aborted = new AbortController();
  aborted.abort('canceled');
  await failTimes(breakers, 20, broken, { signal: aborted.signal });
  assert.equal(await through(breakers, async () => 'there'), 'there');
});

test('timeouts open it', async () => {
  const breakers = createBreakers(100);
  await failTimes(breakers, 10, new ModelFailure('MODEL_TIMEOUT', 'It took too long.'));
  await assert.rejects(through(breakers, never), ModelDeferred);
});

test('calls beyond the concurrency limit queue', async () => {
  const breakers = createBreakers(2);
  const order: string[] = [];
  const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  const calls = gates.map((gate, i) =>
    through(breakers, async () => {
      order.push(`started ${i}`);
      await gate.promise;
    }),
  );
  await new Promise(setImmediate);
  assert.deepEqual(order, ['started 0', 'started 1']);
  gates[0]?.resolve();
  await calls[0];
  await new Promise(setImmediate);
  assert.deepEqual(order, ['started 0', 'started 1', 'started 2']);
  for (const gate of gates) gate.resolve();
  await Promise.all(calls);
});

test('workspaces that share a credential take turns', async () => {
  const breakers = createBreakers(1);
  const order: string[] = [];
  const gates: (() => void)[] = [];
  const call = (name: string) =>
    through(
      breakers,
      () => {
        order.push(name);
        return new Promise<void>((resolve) => gates.push(resolve));
      },
      { workspaceId: name.slice(0, 1) },
    );
  const calls = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(call);
  await new Promise(setImmediate);
  gates.shift()?.();
  await calls[0];
  calls.push(call('d1'));
  while (order.length < calls.length) {
    await new Promise(setImmediate);
    gates.shift()?.();
  }
  for (const open of gates) open();
  await Promise.all(calls);
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1', 'd1', 'a3', 'b2', 'a4']);
});

test('a slot that opens by time goes to a queued call, not to a new one', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const breakers = createBreakers(100);
  const order: string[] = [];
  const silent = Promise.withResolvers<void>();
  const call = (name: string) =>
    through(breakers, () => {
      order.push(name);
      return silent.promise;
    });
  await failTimes(breakers, 10, broken);
  nowMs += 10_000;
  const calls = [call('probe'), call('queued')];
  await new Promise(setImmediate);
  assert.deepEqual(order, ['probe']);
  // The probe has been silent for so long that another one is allowed.
  nowMs += 30_000;
  calls.push(call('newcomer'));
  await new Promise(setImmediate);
  assert.deepEqual(order, ['probe', 'queued']);
  silent.resolve();
  await Promise.all(calls);
  assert.deepEqual(order, ['probe', 'queued', 'newcomer']);
});

test('the retry delay depends on the deferred calls of the workspace first, then on those of others', async (t) => {
  t.mock.method(performance, 'now', () => 0);
  t.mock.method(Math, 'random', () => 0.5);
  const breakers = createBreakers(100);
  await failTimes(breakers, 10, broken);
  const delayMs = async (workspaceId: string) => {
    const error = await through(breakers, never, { workspaceId }).then(never, (thrown) => thrown);
    assert.ok(error instanceof ModelDeferred);
    return error.afterMs;
  };
  const pauseMs = 1_000;
  const many = await Promise.all(Array.from({ length: 1_500 }, () => delayMs('many')));
  assert.equal(many.at(-1), pauseMs + 30_000);
  assert.equal(await delayMs('one'), pauseMs + 1_000);
  // After more deferred calls of its own, those of other workspaces delay it too.
  for (let own = 1; own < 60; own++) await delayMs('one');
  assert.equal(await delayMs('one'), pauseMs + 1_000 + 60 * 20 + 1_500 * 2);
});

test('a queued call that times out or is aborted never reaches the provider', async () => {
  const breakers = createBreakers(1);
  const gate = Promise.withResolvers<void>();
  const first = through(breakers, () => gate.promise);
  const controller = new AbortController();
  const waiting = [through(breakers, never), through(breakers, never, controller)];
  controller.abort('canceled');
  for (const one of await Promise.allSettled(waiting)) {
    assert.ok(one.status === 'rejected' && one.reason instanceof ModelDeferred);
    assert.equal(one.reason.code, 'MODEL_TIMEOUT');
    assert.equal(one.reason.full, true);
  }
  gate.resolve();
  await first;
});
