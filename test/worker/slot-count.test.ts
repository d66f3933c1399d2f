import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { slotCount } from '../../src/worker/slot-count.ts';

test('the last eighth of the slots is reserved for workspaces that hold none', () => {
  const slots = slotCount(16);
  for (let i = 0; i < 14; i++) assert.ok(slots.acquire('a'));
  assert.ok(!slots.acquire('a'));
  assert.ok(slots.acquire('b'));
  assert.ok(!slots.acquire('b'));
  assert.ok(slots.acquire('c'));
  assert.ok(!slots.acquire('d'));
  slots.release('a');
  assert.ok(!slots.acquire('a'));
  assert.ok(slots.acquire('d'));
});

test('a single slot serves any workspace', () => {
  const slots = slotCount(1);
  assert.ok(slots.acquire('a'));
  assert.ok(!slots.acquire('b'));
  slots.release('a');
  assert.ok(slots.acquire('b'));
});

test('a finished call frees its slot while fewer ends wait than there are slots', () => {
  const slots = slotCount(2);
  assert.ok(slots.acquire('a'));
  const first = slots.finishCall('a');
  assert.equal(slots.used, 0);
  assert.ok(!slots.idle);
  assert.ok(slots.acquire('a'));
  const second = slots.finishCall('a');
  assert.ok(slots.acquire('a'));
  const third = slots.finishCall('a');
  assert.equal(slots.used, 1);
  third();
  assert.equal(slots.used, 0);
  first();
  assert.ok(!slots.idle);
  second();
  assert.ok(slots.idle);
});

test('slots never exceed the total, and a workspace without a slot gets one unless all are used', () => {
  const move = fc.constantFrom('acquire', 'release', 'finish call', 'end written');
  const moves = fc.array(fc.tuple(move, fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), moves, (total, steps) => {
      const slots = slotCount(total);
      const held = new Map<string, number>();
      const ends: { workspace: string; keepsSlot: boolean; written: () => void }[] = [];
      for (const [what, workspace] of steps) {
        const mine = held.get(workspace) ?? 0;
        if (what === 'acquire') {
          const free = slots.used < total;
          const got = slots.acquire(workspace);
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
          if (what === 'release') slots.release(workspace);
          else ends.push({ workspace, keepsSlot, written: slots.finishCall(workspace) });
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
