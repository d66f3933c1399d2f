import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dispatcherCallsMax, dispatchers } from '../../src/net/dispatchers.ts';

function counted() {
  const made: { destroyed: boolean; destroy(): Promise<void> }[] = [];
  const all = dispatchers(() => {
    const one = {
      destroyed: false,
      async destroy() {
        one.destroyed = true;
      },
    };
    made.push(one);
    return one;
  });
  return { made, all };
}

/** Calls under way, and how each of them ends. */
function calls(all: ReturnType<typeof counted>['all'], count: number) {
  return Array.from({ length: count }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const call = all.through(() => promise);
    return { call, end: resolve, fail: reject };
  });
}

test('another is made only where those there are have no room', async () => {
  const { made, all } = counted();
  const first = calls(all, dispatcherCallsMax);
  assert.equal(made.length, 1);
  const [last] = calls(all, 1);
  assert.equal(made.length, 2);
  for (const { end } of first.slice(1)) end();
  first[0]?.fail(new Error('broken'));
  await Promise.allSettled(first.map(({ call }) => call));
  const used: unknown[] = [];
  await Promise.all(
    Array.from({ length: dispatcherCallsMax }, () => all.through(async (one) => used.push(one))),
  );
  assert.deepEqual(new Set(used), new Set([made[0]]));
  assert.equal(made.length, 2);
  last?.end();
  await last?.call;
});

test('once closed all are destroyed, and so is one that is made later', async () => {
  const { made, all } = counted();
  const underWay = calls(all, dispatcherCallsMax);
  await all.close();
  await all.through(async (one) => assert.ok(one.destroyed));
  assert.deepEqual(
    made.map(({ destroyed }) => destroyed),
    [true, true],
  );
  for (const { end } of underWay) end();
});
