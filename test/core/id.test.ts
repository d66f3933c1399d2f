import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromId, idPattern, toId, uuid7, uuid7Time, uuidFloor } from '../../src/core/id.ts';

const timeMs = fc.integer({ min: 0, max: 2 ** 48 - 1 });

test('a generated id is a version 7 UUID of its time', () => {
  fc.assert(
    fc.property(timeMs, (ms) => {
      const id = uuid7(ms);
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.equal(uuid7Time(id), ms);
    }),
  );
});

test('ids sort by time, and the floor of a millisecond is not above its ids', () => {
  fc.assert(
    fc.property(timeMs, timeMs, (a, b) => {
      if (a < b) assert.ok(uuid7(a) < uuid7(b));
      assert.ok(uuidFloor(a) <= uuid7(a));
      if (a < 2 ** 48 - 1) assert.ok(uuid7(a) < uuidFloor(a + 1));
    }),
  );
});

test('an id round-trips over the wire, under its own kind only', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      const wire = toId('agent', uuid);
      assert.match(wire, new RegExp(idPattern('agent')));
      assert.equal(fromId('agent', wire), uuid);
      assert.equal(fromId('prompt', wire), null);
    }),
  );
});

test('the text form follows the TypeID specification', () => {
  assert.equal(
    toId('user', '00000000-0000-0000-0000-000000000000'),
    'usr_00000000000000000000000000',
  );
  assert.equal(
    toId('user', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    'usr_7zzzzzzzzzzzzzzzzzzzzzzzzz',
  );
  assert.equal(
    toId('user', '0188bac7-4afa-78aa-bc3b-bd1eef28d881'),
    'usr_01h2xcejqtf2nbrexx3vqjhp41',
  );
});

const malformed = [
  '',
  'agt_',
  'agt',
  'agt_0',
  'agt_00000000000000000000000000x',
  'agt_8zzzzzzzzzzzzzzzzzzzzzzzzz',
  'agt_0000000000000000000000000u',
  'agt_0000000000000000000000000I',
  'AGT_00000000000000000000000000',
  'agt_0000000000000000000000000 ',
  'agt_00000000000000000000000000\n',
  '0188bac7-4afa-78aa-bc3b-bd1eef28d881',
  "agt_' or 1=1 --",
];

for (const text of malformed) {
  test(`${JSON.stringify(text)} is not an id`, () => assert.equal(fromId('agent', text), null));
}
