import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dispatchers, dispatcherCallsMax } from '../../src/net/dispatchers.ts';

function counted() {
  const created: { destroyed: boolean; destroy(): Promise<void> }[] = [];
  const all = new Dispatchers(() => {
    const one = {
      destroyed: false,
      async destroy() {
        one.destroyed = true;
      },
    };
    created.push(one);
    return one;
  });
  return { created, all };
}

/** Calls in progress, with functions that end them. */
function calls(all: ReturnType<typeof counted>['all'], count: number) {
  return Array.from({ length: count }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const call = all.dispatch(() => promise);
    return { call, end: resolve, fail: reject };
  });
}

test('creates a dispatcher only if all others are full', async () => {
  const { created, all } = counted();
  const first = calls(all, dispatcherCallsMax);
  assert.equal(created.length, 1);
  const [last] = calls(all, 1);
  assert.equal(created.length, 2);
  for (const { end } of first.slice(1)) end();
  first[0]?.fail(new Error('broken'));
  await Promise.allSettled(first.map(({ call }) => call));
  const used: unknown[] = [];
  await Promise.all(
    Array.from({ length: dispatcherCallsMax }, () => all.dispatch(async (one) => used.push(one))),
  );
  assert.deepEqual(new Set(used), new Set([created[0]]));
  assert.equal(created.length, 2);
  last?.end();
  await last?.call;
});

test('close destroys all dispatchers, including later ones', async () => {
  const { created, all } = counted();
  const inProgress = calls(all, dispatcherCallsMax);
  await all.close();
  await all.dispatch(async (one) => assert.ok(one.destroyed));
  assert.deepEqual(
    created.map(({ destroyed }) => destroyed),
    [true, true],
  );
  for (const { end } of inProgress) end();
});
