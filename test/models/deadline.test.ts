import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { noCost, unknownCost } from '../../src/core/model/model-port.ts';
import { withDeadline } from '../../src/models/deadline.ts';

const hour = 3_600_000;

/** Work that ends only when aborted, with its own error. */
const endless = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

test('returns the result and the error of the work', async () => {
  const { signal } = new AbortController();
  const call = { signal, timeoutMs: hour };
  assert.equal(await withDeadline(call, noCost, async () => 1), 1);
  const error = new Error('no');
  await assert.rejects(
    withDeadline(call, noCost, () => Promise.reject(error)),
    error,
  );
  assert.equal(getEventListeners(signal, 'abort').length, 0, 'a listener leaked');
});

test('a timeout is MODEL_TIMEOUT with the given cost', async () => {
  const call = { signal: new AbortController().signal, timeoutMs: 1 };
  const failed = withDeadline(call, unknownCost, endless);
  await assert.rejects(failed, { code: 'MODEL_TIMEOUT', retryable: true, cost: unknownCost });
});

test('an abort rejects with its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('canceled');
  const failed = withDeadline({ signal: controller.signal, timeoutMs: hour }, noCost, endless);
  controller.abort(reason);
  await assert.rejects(failed, reason);
});

test('an aborted call does not start', async () => {
  const call = { signal: AbortSignal.abort(new Error('before')), timeoutMs: hour };
  await assert.rejects(
    withDeadline(call, noCost, async () => assert.fail('started')),
    { message: 'before' },
  );
});

test('a result in time wins over a later abort', async () => {
  const controller = new AbortController();
  const call = { signal: controller.signal, timeoutMs: hour };
  const response = withDeadline(call, noCost, async () => {
    controller.abort();
    return 'paid for';
  });
  assert.equal(await response, 'paid for');
});
