import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelDeferred, ModelFailure } from '../../../src/core/model/model-port.ts';
import { Breakers, providersOpen } from '../../../src/models/capacity/breakers.ts';

const minute = 60_000;

function run<T>(
  breakers: Breakers,
  work: () => Promise<T>,
  more: Partial<Parameters<Breakers['run']>[0]> = {},
): Promise<T> {
  const call = {
    ...{ provider: 'openai', credential: 'one', model: 'm', baseURL: 'https://one.example' },
    ...{
      workspaceId: 'w',
      timeoutMs: minute,
      leftMs: minute,
      signal: new AbortController().signal,
    },
    ...more,
  };
  return breakers.run(call, work);
}

async function failTimes(
  breakers: Breakers,
  times: number,
  error: unknown,
  more: Parameters<typeof run>[2] = {},
): Promise<void> {
  for (let i = 0; i < times; i++) {
    await assert.rejects(
      run(breakers, () => Promise.reject(error), more),
      (thrown) => thrown === error,
    );
  }
}

const broken = new ModelFailure('PROVIDER_ERROR', 'It broke.');
const limited = new ModelFailure('PROVIDER_RATE_LIMITED', 'Slow.', { retryAfterMs: 7_000 });
const never = () => assert.fail('called');

test('a failing provider opens the breaker, and the call is deferred with delay and reason', async () => {
  const breakers = new Breakers(100);
  await failTimes(breakers, 10, broken);
  const error = await run(breakers, never).then(never, (thrown) => thrown);
  assert.ok(error instanceof ModelDeferred);
  assert.ok(error.afterMs >= 500);
  assert.equal(error.code, 'PROVIDER_ERROR');
  assert.equal(error.full, false);
  assert.deepEqual([...providersOpen(breakers.states())], [['openai', 1]]);
});

test('other credentials and other models are not affected', async () => {
  const breakers = new Breakers(100);
  await failTimes(breakers, 10, broken);
  await failTimes(breakers, 1, limited, { model: 'limited' });
  for (const other of [{ credential: 'two' }, { model: 'n' }]) {
    assert.equal(await run(breakers, async () => 'there', other), 'there');
  }
});

test('a base URL that is not reached is paused for every credential and model', async () => {
  const breakers = new Breakers(100);
  const away = new ModelFailure('PROVIDER_ERROR', 'No connection.', { unreached: true });
  await failTimes(breakers, 10, away);
  const other = { credential: 'two', model: 'n' };
  await assert.rejects(run(breakers, never, other), { code: 'PROVIDER_ERROR' });
  const elsewhere = { baseURL: 'https://two.example' };
  assert.equal(await run(breakers, async () => 'there', elsewhere), 'there');
});

test('a rejected credential or an empty account holds back no call', async () => {
  const breakers = new Breakers(100);
  for (const code of ['PROVIDER_AUTH', 'PROVIDER_QUOTA'] as const) {
    await failTimes(breakers, 20, new ModelFailure(code, 'No.'));
  }
  assert.equal(await run(breakers, async () => 'there'), 'there');
});

test('a rejected credential does not count as an answer of a failing model', async () => {
  const breakers = new Breakers(100);
  await failTimes(breakers, 9, broken);
  await failTimes(breakers, 1, new ModelFailure('PROVIDER_AUTH', 'No.'));
  await failTimes(breakers, 1, broken);
  await assert.rejects(run(breakers, never), ModelDeferred);
});

test('a call whose deadline comes before the end of the pause is made, one per second', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const breakers = new Breakers(100);
  await failTimes(breakers, 1, limited);
  const short = { leftMs: 6_000 };
  await failTimes(breakers, 1, limited, short);
  await assert.rejects(run(breakers, never, short), { code: 'PROVIDER_RATE_LIMITED' });
  await assert.rejects(run(breakers, never), { code: 'PROVIDER_RATE_LIMITED' });
  nowMs += 1_000;
  assert.equal(await run(breakers, async () => 'there', short), 'there');
  // The answer has ended the pause.
  assert.equal(await run(breakers, async () => 'there'), 'there');
});

test('Retry-After applies to every call with the credential and model', async () => {
  const breakers = new Breakers(100);
  await failTimes(breakers, 1, limited);
  const error = await run(breakers, never).then(never, (thrown) => thrown);
  assert.ok(error instanceof ModelDeferred && error.afterMs > 7_000);
  assert.equal(error.code, 'PROVIDER_RATE_LIMITED');
});

test('failures caused by the caller do not open it', async () => {
  const breakers = new Breakers(100);
  await failTimes(breakers, 20, new ModelFailure('CONTEXT_LENGTH', 'Too long.'));
  await failTimes(breakers, 20, new ModelFailure('PROVIDER_ERROR', 'No.', { retryable: false }));
  await failTimes(breakers, 20, new ModelFailure('EMPTY_OUTPUT', 'No text.'));
  await failTimes(breakers, 20, new ModelFailure('SCHEMA_MISMATCH', 'No JSON.'));
  const timeout = new ModelFailure('MODEL_TIMEOUT', 'It took too long.');
  await failTimes(breakers, 20, timeout, { timeoutMs: 9_999 });
  const aborted = new AbortController();
  aborted.abort('canceled');
  await failTimes(breakers, 20, broken, { signal: aborted.signal });
  assert.equal(await run(breakers, async () => 'there'), 'there');
});

test('timeouts open it', async () => {
  const breakers = new Breakers(100);
  await failTimes(breakers, 10, new ModelFailure('MODEL_TIMEOUT', 'It took too long.'));
  await assert.rejects(run(breakers, never), ModelDeferred);
});

test('calls beyond the concurrency limit queue', async () => {
  const breakers = new Breakers(2);
  const order: string[] = [];
  const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  const calls = gates.map((gate, i) =>
    run(breakers, async () => {
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
  const breakers = new Breakers(1);
  const order: string[] = [];
  const gates: (() => void)[] = [];
  const call = (name: string) =>
    run(
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
  const breakers = new Breakers(100);
  const order: string[] = [];
  const silent = Promise.withResolvers<void>();
  const call = (name: string) =>
    run(breakers, () => {
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
  const breakers = new Breakers(100);
  await failTimes(breakers, 10, broken);
  const delayMs = async (workspaceId: string) => {
    const error = await run(breakers, never, { workspaceId }).then(never, (thrown) => thrown);
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
  const breakers = new Breakers(1);
  const gate = Promise.withResolvers<void>();
  const first = run(breakers, () => gate.promise);
  const controller = new AbortController();
  const waiting = [run(breakers, never), run(breakers, never, controller)];
  controller.abort('canceled');
  for (const one of await Promise.allSettled(waiting)) {
    assert.ok(one.status === 'rejected' && one.reason instanceof ModelDeferred);
    assert.equal(one.reason.code, 'MODEL_TIMEOUT');
    assert.equal(one.reason.full, true);
  }
  gate.resolve();
  await first;
});
