import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWaitSlots } from '../../src/api/http/wait-for.ts';
import { waitsMax, waitsOfCallerMax } from '../../src/contract/limits.ts';

/** Takes as many as there are; answers what gives each back. */
function takeAll(slots: ReturnType<typeof createWaitSlots>, callerId: string) {
  const taken: (() => void)[] = [];
  for (let one = slots.acquire(callerId); one; one = slots.acquire(callerId)) taken.push(one);
  return taken;
}

test('one caller has some of the slots, and all together have some', () => {
  const slots = createWaitSlots();
  assert.equal(takeAll(slots, 'a').length, waitsOfCallerMax);
  let left = waitsMax - waitsOfCallerMax;
  for (const caller of ['b', 'c', 'd']) left -= takeAll(slots, caller).length;
  assert.equal(left, 0);
});

test('what is given back is there for the next', () => {
  const slots = createWaitSlots();
  for (let round = 0; round < 3; round++) {
    const taken = takeAll(slots, 'a');
    assert.equal(taken.length, waitsOfCallerMax);
    for (const release of taken) release();
  }
  assert.equal(takeAll(slots, 'b').length, waitsOfCallerMax);
});
