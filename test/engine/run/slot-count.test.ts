import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type SlotUse, slotCount } from '../../../src/engine/run/slot-count.ts';

const bytesMax = 1_000;

/** An execution with a short input. */
function one(workspaceId: string, inputBytes = 0): SlotUse {
  return { workspaceId, inputBytes };
}

test('the last eighth of the slots is reserved for workspaces that hold none', () => {
  const slots = slotCount(16, bytesMax);
  for (let i = 0; i < 14; i++) assert.ok(slots.acquire(one('a')));
  assert.ok(!slots.acquire(one('a')));
  assert.ok(slots.acquire(one('b')));
  assert.ok(!slots.acquire(one('b')));
  assert.ok(slots.acquire(one('c')));
  assert.ok(!slots.acquire(one('d')));
  slots.release(one('a'));
  assert.ok(!slots.acquire(one('a')));
  assert.ok(slots.acquire(one('d')));
});

test('a single slot serves any workspace', () => {
  const slots = slotCount(1, bytesMax);
  assert.ok(slots.acquire(one('a')));
  assert.ok(!slots.acquire(one('b')));
  slots.release(one('a'));
  assert.ok(slots.acquire(one('b')));
});

test('a finished call frees its slot while fewer ends wait than there are slots', () => {
  const slots = slotCount(2, bytesMax);
  assert.ok(slots.acquire(one('a')));
  const first = slots.finishCall(one('a'));
  assert.equal(slots.used, 0);
  assert.ok(!slots.idle);
  assert.ok(slots.acquire(one('a')));
  const second = slots.finishCall(one('a'));
  assert.ok(slots.acquire(one('a')));
  const third = slots.finishCall(one('a'));
  assert.equal(slots.used, 1);
  third();
  assert.equal(slots.used, 0);
  first();
  assert.ok(!slots.idle);
  second();
  assert.ok(slots.idle);
});

test('a workspace adds inputs while there is room for them, and its first one always', () => {
  const slots = slotCount(16, bytesMax);
  assert.ok(slots.acquire(one('a', 600)));
  assert.ok(!slots.acquire(one('a', 401)));
  assert.ok(slots.acquire(one('a', 400)));
  assert.deepEqual([slots.free, slots.freeBytes], [0, 0]);
  assert.ok(!slots.acquire(one('a', 1)));
  assert.ok(slots.acquire(one('b', 5_000)));
  assert.equal(slots.usedBytes, 6_000);
  slots.release(one('b', 5_000));
  slots.release(one('a', 400));
  assert.deepEqual([slots.free, slots.freeBytes], [13, 400]);
});

test('an input keeps its room until the end of the execution is written', () => {
  const slots = slotCount(1, bytesMax);
  assert.ok(slots.acquire(one('a', 600)));
  const first = slots.finishCall(one('a', 600));
  assert.equal(slots.usedBytes, 600);
  assert.ok(slots.acquire(one('a', 300)));
  const second = slots.finishCall(one('a', 300));
  first();
  assert.equal(slots.usedBytes, 300);
  second();
  assert.equal(slots.usedBytes, 0);
});

test('a workspace without a slot waits for room too while its ends are being written', () => {
  const slots = slotCount(16, bytesMax);
  assert.ok(slots.acquire(one('a', 1_000)));
  const written = slots.finishCall(one('a', 1_000));
  assert.ok(!slots.holds('a'));
  assert.ok(!slots.acquire(one('a', 1)));
  assert.ok(slots.acquire(one('b', 1)));
  written();
  assert.ok(slots.acquire(one('a', 1)));
});

test('a claim in progress reserves room', () => {
  const slots = slotCount(16, bytesMax);
  slots.reserve(2, 900);
  assert.ok(slots.acquire(one('a', 100)));
  assert.ok(!slots.acquire(one('a', 1)));
  slots.unreserve(2, 900);
  assert.ok(slots.acquire(one('a', 1)));
});

test('slots never exceed the total, and a workspace without a slot gets one unless all are used', () => {
  const move = fc.constantFrom('acquire', 'release', 'finish call', 'end written');
  const moves = fc.array(fc.tuple(move, fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), moves, (total, steps) => {
      const slots = slotCount(total, bytesMax);
      const held = new Map<string, number>();
      const ends: { workspace: string; keepsSlot: boolean; written: () => void }[] = [];
      for (const [what, workspace] of steps) {
        const mine = held.get(workspace) ?? 0;
        if (what === 'acquire') {
          const free = slots.used < total;
          const got = slots.acquire(one(workspace));
          if (mine === 0) assert.equal(got, free);
          if (got) held.set(workspace, mine + 1);
        } else if (what === 'end written') {
          const end = ends.shift();
          end?.written();
          if (end?.keepsSlot) held.set(end.workspace, (held.get(end.workspace) ?? 0) - 1);
        } else if (
          mine > ends.filter((end) => end.keepsSlot && end.workspace === workspace).length
        ) {
          const keepsSlot =
            what === 'finish call' && ends.filter((end) => !end.keepsSlot).length >= total;
          if (what === 'release') slots.release(one(workspace));
          else ends.push({ workspace, keepsSlot, written: slots.finishCall(one(workspace)) });
          if (!keepsSlot) held.set(workspace, mine - 1);
        }
        assert.equal(
          slots.used,
          [...held.values()].reduce((sum, n) => sum + n, 0),
        );
        assert.ok(slots.used <= total);
        assert.equal(slots.idle, slots.used === 0 && ends.length === 0);
      }
    }),
  );
});
