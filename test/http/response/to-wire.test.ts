import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { toId } from '../../../src/core/id.ts';
import {
  exampleId,
  id,
  isStoredAsSent,
  nullable,
  ownId,
  time,
} from '../../../src/http/contract/shared.ts';
import { RawJson, toJson } from '../../../src/http/response/json-response.ts';
import { toWire } from '../../../src/http/response/to-wire.ts';

const uuid = '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e41';
const at = new Date('2026-11-21T09:30:00.000Z');
const iso = '2026-11-21T09:30:00.000Z';

const Part = Type.Object({ partId: ownId('pin'), price: Type.Number() });
const Thing = Type.Object({
  thingId: ownId('agent'),
  name: Type.String(),
  madeBy: nullable(id('user')),
  madeAt: time('Made.'),
  parts: Type.Array(Part),
  main: Type.Union([Part, Type.Null()]),
  note: Type.Optional(Type.String()),
  reason: Type.Optional(nullable(Type.String())),
});
const row = {
  id: uuid,
  secret: 'never sent',
  main: null,
  parts: [{ price: '0.10', id: uuid, hash: 'never sent' }],
  madeAt: at,
  madeBy: uuid,
  name: 'one',
};

test('takes the declared properties in their order, and converts what the database holds', () => {
  const wire = {
    thingId: exampleId('agent'),
    name: 'one',
    madeBy: exampleId('user'),
    madeAt: iso,
    parts: [{ partId: exampleId('pin'), price: 0.1 }],
    main: null,
  };
  assert.equal(JSON.stringify(toWire(Thing, row)), JSON.stringify(wire));
  const withMain = toWire(Thing, { ...row, main: { id: uuid, price: 2 }, madeAt: at.getTime() });
  assert.deepEqual(withMain, { ...wire, main: { partId: toId('pin', uuid), price: 2 } });
});

test('an optional property is absent without a value; null is sent where it is declared', () => {
  const wire = toWire(Thing, { ...row, madeBy: null, note: null, reason: null });
  assert.equal(wire.madeBy, null);
  assert.equal('note' in wire, false);
  assert.equal(wire.reason, null);
  const given = toWire(Thing, { ...row, note: 'a note', reason: 'a reason' });
  assert.deepEqual([given.note, given.reason], ['a note', 'a reason']);
});

test('sends JSON text as it is where an object or a list is declared', () => {
  const any = Type.Unsafe<unknown>({});
  const open = Type.Object({}, { additionalProperties: true });
  const Json = Type.Object({ open, list: Type.Array(any), parts: Type.Array(Part), any });
  const raw = new RawJson('1.0');
  const wire = toWire(Json, { open: '{"2":1.0,"1":2}', list: '[1.0]', parts: '[]', any: raw });
  assert.equal(toJson(wire), '{"open":{"2":1.0,"1":2},"list":[1.0],"parts":[],"any":1.0}');
  assert.deepEqual(toWire(Json, { open: { a: at }, list: [at], parts: [], any: '[]' }), {
    open: { a: at },
    list: [at],
    parts: [],
    any: '[]',
  });
});

test('sends an object unchanged that is stored as it is sent, and converts the values of a record', () => {
  const Settings = Type.Object(
    { a: Type.Optional(Type.Number()), b: Type.Optional(Type.Number()) },
    { [isStoredAsSent]: true },
  );
  assert.equal(JSON.stringify(toWire(Settings, { b: 1, a: 2 })), '{"b":1,"a":2}');
  const times = Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: time('Any.'),
  });
  assert.deepEqual(toWire(times, { first: at }), { first: iso });
});

test('the compiler asks for what is declared, under the names of rows', () => {
  const { id: _, ...withoutId } = row;
  // @ts-expect-error A row has an id.
  toWire(Thing, withoutId);
  // @ts-expect-error The name is a text.
  toWire(Thing, { ...row, name: null });
  // @ts-expect-error A price is missing.
  toWire(Thing, { ...row, parts: [{ id: uuid }] });
});
