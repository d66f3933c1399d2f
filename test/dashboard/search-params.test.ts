import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSearchValue, toText } from '../../dashboard/data/client/search-params.ts';

test('search parameters keep their text when parsed and written back', () => {
  for (const text of ['42', '1.10', '12345678901234567890', '{"a": 1.0}', 'true', '[2,"b"]']) {
    assert.equal(toText(parseSearchValue(text)), text);
  }
  assert.equal(toText(parseSearchValue('"1.10"')), '1.10');
  assert.equal(parseSearchValue('42'), 42);
  assert.equal(parseSearchValue('true'), true);
  assert.throws(() => parseSearchValue('tides'));
});
