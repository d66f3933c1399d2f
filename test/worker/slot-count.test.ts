import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { slotCount } from '../../src/worker/slot-count.ts';

test('the last eighth goes only to workspaces that hold none', () => {
  const slots = slotCount(16);
  for (let i = 0; i < 14; i++) assert.ok(slots.take('a'));
  assert.ok(!slots.take('a'));
  assert.ok(slots.take('b'));
  assert.ok(!slots.take('b'));
  assert.ok(slots.take('c'));
  assert.ok(!slots.take('d'));
  slots.giveBack('a');
  assert.ok(!slots.take('a'));
  assert.ok(slots.take('d'));
});

test('a single slot serves any workspace', () => {
  const slots = slotCount(1);
  assert.ok(slots.take('a'));
  assert.ok(!slots.take('b'));
  slots.giveBack('a');
  assert.ok(slots.take('b'));
});

test('a run whose call is over gives its slot on, as long as fewer such runs wait than there are slots', () => {
  const slots = slotCount(2);
  assert.ok(slots.take('a'));
  const first = slots.callOver('a');
  assert.equal(slots.used, 0);
  assert.ok(!slots.idle);
  assert.ok(slots.take('a'));
  const second = slots.callOver('a');
  assert.ok(slots.take('a'));
  const third = slots.callOver('a');
  assert.equal(slots.used, 1);
  third();
  assert.equal(slots.used, 0);
  first();
  assert.ok(!slots.idle);
  second();
  assert.ok(slots.idle);
});

test('never more than there are, and a workspace without one always finds a reserved one unless all are taken', () => {
  const move = fc.constantFrom('take', 'give back', 'call over', 'written');
  const moves = fc.array(fc.tuple(move, fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), moves, (total, steps) => {
      const slots = slotCount(total);
      const held = new Map<string, number>();
      const ends: { workspace: string; keepsSlot: boolean; written: () => void }[] = [];
      for (const [what, workspace] of steps) {
        const mine = held.get(workspace) ?? 0;
        if (what === 'take') {
          const free = slots.used < total;
          const got = slots.take(workspace);
          if (mine === 0) assert.equal(got, free);
          if (got) held.set(workspace, mine + 1);
        } else if (what === 'written') {
          const end = ends.shift();
          end?.written();
          if (end?.keepsSlot) held.set(end.workspace, (held.get(end.workspace) ?? 0) - 1);
        } else if (
          mine > ends.filter((end) => end.keepsSlot && end.workspace === workspace).length
        ) {
          const keepsSlot =
            what === 'call over' && ends.filter((end) => !end.keepsSlot).length >= total;
          if (what === 'give back') slots.giveBack(workspace);
          else ends.push({ workspace, keepsSlot, written: slots.callOver(workspace) });
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
