import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parseSearchValue,
  splitValues,
  toText,
} from '../../dashboard/data/client/search-params.ts';
import { joinValues } from '../../src/client/index.ts';

test('search parameters keep their text when parsed and written back', () => {
  for (const text of ['42', '1.10', '12345678901234567890', '{"a": 1.0}', 'true', '[2,"b"]']) {
    assert.equal(toText(parseSearchValue(text)), text);
  }
  assert.equal(toText(parseSearchValue('"1.10"')), '1.10');
  assert.equal(parseSearchValue('42'), 42);
  assert.equal(parseSearchValue('true'), true);
  assert.throws(() => parseSearchValue('tides'));
});

test('several values keep their commas and backslashes', () => {
  for (const values of [['Doe, Ada', 'bob'], ['a\\', ',b'], ['\\,', '\\\\'], ['CORP\\ada']]) {
    assert.deepEqual(splitValues(joinValues(values)), values);
  }
  assert.deepEqual(splitValues('a,,a,CORP\\ada'), ['a', 'CORP\\ada']);
  assert.deepEqual(splitValues(''), []);
});
