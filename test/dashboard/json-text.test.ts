import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indentJson } from '../../dashboard/pages/history/record/json-text.ts';

test('indents JSON like JSON.stringify', () => {
  const value = { b: 1, a: [true, null, -1.5e3], empty: {}, none: [], text: 'a "b": [c], {d}\\' };
  assert.equal(indentJson(JSON.stringify(value)), JSON.stringify(value, null, 2));
  assert.equal(indentJson(JSON.stringify(value, null, 7)), JSON.stringify(value, null, 2));
});

test('keeps digits and duplicate keys', () => {
  const text = '{"id":12345678901234567890,"twice":1,"twice":2.0}';
  const indented = '{\n  "id": 12345678901234567890,\n  "twice": 1,\n  "twice": 2.0\n}';
  assert.equal(indentJson(text), indented);
});

test('rejects invalid, long and deep JSON', () => {
  assert.equal(indentJson('[not JSON'), null);
  assert.equal(indentJson('42'), null);
  assert.equal(indentJson('['.repeat(3_000) + ']'.repeat(3_000)), null);
  assert.equal(indentJson(`["${'a'.repeat(300_000)}"]`), null);
});
