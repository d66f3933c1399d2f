import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { ServerSlots } from '../../../src/features/tools/rules/server-slots.ts';

const never = new AbortController().signal;
const slot = { max: 2, executionId: 'a', waitMs: 60_000, signal: never };

test('a server has its maximum of requests in flight, and each server its own', async () => {
  const slots = new ServerSlots();
  const first = await slots.acquire('s', slot);
  assert.ok(first && (await slots.acquire('s', slot)));
  assert.ok(await slots.acquire('other', slot));
  let isGranted = false;
  const third = slots.acquire('s', slot).then((release) => {
    isGranted = release !== null;
  });
  await immediate();
  assert.equal(isGranted, false);
  first();
  // A slot is given back once.
  first();
  await third;
  assert.equal(isGranted, true);
  assert.equal(await slots.acquire('s', { ...slot, waitMs: 1 }), null);
});

test('executions take turns: one with many calls does not delay the only call of another', async () => {
  const slots = new ServerSlots();
  const held = await slots.acquire('s', { ...slot, max: 1 });
  const order: string[] = [];
  const wait = (executionId: string) =>
    slots.acquire('s', { ...slot, max: 1, executionId }).then((release) => {
      order.push(executionId);
      release?.();
    });
  const all = ['a', 'a', 'a', 'b', 'a', 'c'].map(wait);
  held?.();
  await Promise.all(all);
  assert.deepEqual(order, ['a', 'b', 'c', 'a', 'a', 'a']);
});

test('who gives up keeps no place, and a raised maximum holds from the next call', async () => {
  const slots = new ServerSlots();
  const held = await slots.acquire('s', { ...slot, max: 1 });
  const leaving = new AbortController();
  const left = slots.acquire('s', { ...slot, max: 1, signal: leaving.signal });
  const staying = slots.acquire('s', { ...slot, max: 1 });
  leaving.abort();
  assert.equal(await left, null);
  assert.equal(await slots.acquire('s', { ...slot, max: 1, signal: leaving.signal }), null);
  assert.ok(await slots.acquire('s', { ...slot, max: 2 }));
  held?.();
  assert.ok(await staying);
});
