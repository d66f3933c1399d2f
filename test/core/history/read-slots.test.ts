import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { ReadSlots } from '../../../src/core/history/read-slots.ts';

const limits = {
  ...{ max: 4, ofWorkspaceMax: 3, ofCallerMax: 2, searchesOfCallerMax: 1 },
  ...{ reserved: 1, waitMs: 60_000 },
};
const isSearch = false;
const a1 = { id: 'a1', workspaceId: 'a', isSearch };
const a2 = { id: 'a2', workspaceId: 'a', isSearch };
const b1 = { id: 'b1', workspaceId: 'b', isSearch };
const c1 = { id: 'c1', workspaceId: 'c', isSearch };

// Reads that still wait would keep the process of the tests open.
const ended = new AbortController();
after(() => ended.abort());

/** Acquires slots in order, and returns the names of the readers that have one so far. */
function readsOf(slots: ReadSlots) {
  const granted: string[] = [];
  return {
    granted,
    async acquire(...readers: (typeof a1)[]) {
      for (const reader of readers) {
        slots.acquire(reader, ended.signal).then((free) => free && granted.push(reader.id));
      }
      await settled();
    },
    async release(reader: typeof a1) {
      slots.release(reader);
      await settled();
    },
  };
}

test('a caller and a workspace wait beyond their slots, others do not', async () => {
  const slots = new ReadSlots({ ...limits, max: 8 });
  const { granted, acquire, release } = readsOf(slots);
  await acquire(a1, a1, a1, a2, a2);
  assert.deepEqual(granted, ['a1', 'a1', 'a2']);
  await acquire(b1);
  assert.deepEqual(granted, ['a1', 'a1', 'a2', 'b1']);
  await release(a1);
  // The third read of a1 came before the second one of a2.
  assert.deepEqual(granted, ['a1', 'a1', 'a2', 'b1', 'a1']);
});

test('a search waits for the one of its caller before it, other reads of the caller do not', async () => {
  const slots = new ReadSlots({ ...limits, max: 8 });
  const { granted, acquire, release } = readsOf(slots);
  const searchOf = (reader: typeof a1) => ({ ...reader, isSearch: true });
  await acquire(searchOf(a1), searchOf(a1), a1, searchOf(a2));
  assert.deepEqual(granted, ['a1', 'a1', 'a2']);
  await release(a1);
  assert.equal(granted.length, 3);
  await release(searchOf(a1));
  assert.deepEqual(granted, ['a1', 'a1', 'a2', 'a1']);
});

test('the last slots go to workspaces without one', async () => {
  const slots = new ReadSlots(limits);
  const { granted, acquire, release } = readsOf(slots);
  await acquire(a1, a1, b1, a2, b1, c1);
  assert.deepEqual(granted, ['a1', 'a1', 'b1', 'c1']);
  await release(c1);
  assert.equal(granted.length, 4);
  await release(a1);
  assert.deepEqual(granted, ['a1', 'a1', 'b1', 'c1', 'a2']);
});

test('a read gets no slot after its time, or once its signal is aborted, and its place is free', async () => {
  const slots = new ReadSlots({ ...limits, max: 1, reserved: 0, waitMs: 1 });
  assert.equal(await slots.acquire(a1), true);
  assert.equal(await slots.acquire(b1), false);
  const { signal, ...controller } = newController();
  const waiting = new ReadSlots({ ...limits, max: 1, reserved: 0 });
  assert.equal(await waiting.acquire(a1), true);
  const aborted = waiting.acquire(b1, signal);
  controller.abort();
  assert.equal(await aborted, false);
  assert.equal(await waiting.acquire(b1, signal), false);
  waiting.release(a1);
  assert.equal(await waiting.acquire(c1), true);
});

function newController() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
