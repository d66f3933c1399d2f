import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallerSlots } from '../../../../src/api/http/limits/caller-slots.ts';
import { waitsMax, waitsOfCallerMax } from '../../../../src/contract/limits.ts';

/** Acquires all free slots; returns their release functions. */
function acquireAll(slots: ReturnType<typeof createCallerSlots>, callerId: string) {
  const releases: (() => void)[] = [];
  for (let one = slots.acquire(callerId); one; one = slots.acquire(callerId)) releases.push(one);
  return releases;
}

test('long polls are limited per caller and per process', () => {
  const slots = createCallerSlots();
  assert.equal(acquireAll(slots, 'a').length, waitsOfCallerMax);
  let remaining = waitsMax - waitsOfCallerMax;
  for (const caller of ['b', 'c', 'd']) remaining -= acquireAll(slots, caller).length;
  assert.equal(remaining, 0);
});

test('other limits may be given', () => {
  const slots = createCallerSlots({ max: 3, ofCallerMax: 2 });
  assert.equal(acquireAll(slots, 'a').length, 2);
  assert.equal(acquireAll(slots, 'b').length, 1);
});

test('a released slot is available again', () => {
  const slots = createCallerSlots();
  for (let round = 0; round < 3; round++) {
    const releases = acquireAll(slots, 'a');
    assert.equal(releases.length, waitsOfCallerMax);
    for (const release of releases) release();
  }
  assert.equal(acquireAll(slots, 'b').length, waitsOfCallerMax);
});
