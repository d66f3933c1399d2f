import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWaitSlots } from '../../src/api/http/wait-for.ts';
import { waitsMax, waitsOfCallerMax } from '../../src/contract/limits.ts';

/** Takes as many as there are; answers what gives each back. */
function takeAll(places: ReturnType<typeof createWaitSlots>, callerId: string) {
  const taken: (() => void)[] = [];
  for (let one = places.take(callerId); one; one = places.take(callerId)) taken.push(one);
  return taken;
}

test('one caller has some of the places, and all together have some', () => {
  const places = createWaitSlots();
  assert.equal(takeAll(places, 'a').length, waitsOfCallerMax);
  let left = waitsMax - waitsOfCallerMax;
  for (const caller of ['b', 'c', 'd']) left -= takeAll(places, caller).length;
  assert.equal(left, 0);
});

test('what is given back is there for the next', () => {
  const places = createWaitSlots();
  for (let round = 0; round < 3; round++) {
    const taken = takeAll(places, 'a');
    assert.equal(taken.length, waitsOfCallerMax);
    for (const giveBack of taken) giveBack();
  }
  assert.equal(takeAll(places, 'b').length, waitsOfCallerMax);
});
