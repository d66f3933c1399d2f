import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { noCost, unknownCost } from '../../src/core/model/model-port.ts';
import { withDeadline } from '../../src/net/deadline.ts';

const hour = 3_600_000;

/** Work that ends only by its signal, with an error of its own. */
const endless = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('cut off')));
  });

test('what the work gives or throws goes through', async () => {
  const { signal } = new AbortController();
  const call = { signal, timeoutMs: hour };
  assert.equal(await withDeadline(call, noCost, async () => 1), 1);
  const error = new Error('no');
  await assert.rejects(
    withDeadline(call, noCost, () => Promise.reject(error)),
    error,
  );
  assert.equal(getEventListeners(signal, 'abort').length, 0, 'a listener was left');
});

test('time is up: MODEL_TIMEOUT, at the cost that was said', async () => {
  const call = { signal: new AbortController().signal, timeoutMs: 1 };
  const failed = withDeadline(call, unknownCost, endless);
  await assert.rejects(failed, { code: 'MODEL_TIMEOUT', retryable: true, cost: unknownCost });
});

test('the caller aborts: its own reason comes back', async () => {
  const controller = new AbortController();
  const reason = new Error('canceled');
  const failed = withDeadline({ signal: controller.signal, timeoutMs: hour }, noCost, endless);
  controller.abort(reason);
  await assert.rejects(failed, reason);
});

test('where the caller has aborted, nothing begins', async () => {
  const call = { signal: AbortSignal.abort(new Error('before')), timeoutMs: hour };
  await assert.rejects(
    withDeadline(call, noCost, async () => assert.fail('begun')),
    { message: 'before' },
  );
});

test('an answer in time is kept, though the signal comes right after', async () => {
  const controller = new AbortController();
  const call = { signal: controller.signal, timeoutMs: hour };
  const answer = withDeadline(call, noCost, async () => {
    controller.abort();
    return 'paid for';
  });
  assert.equal(await answer, 'paid for');
});
