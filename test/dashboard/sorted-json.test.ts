import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortedJson } from '../../dashboard/data/text/sorted-json.ts';

test('fields are sorted at every depth, and numbers stay as written', () => {
  const text = '{"b": 1.50, "a": [{"d": 12345678901234567890, "c": null}, "x"]}';
  const other = '{"a":[{"c":null,"d":12345678901234567890},"x"],"b":1.50}';
  assert.equal(sortedJson(text), sortedJson(other));
  assert.match(sortedJson(text) ?? '', /"d": 12345678901234567890[\s\S]+"b": 1\.50/);
  assert.notEqual(sortedJson(text), sortedJson(other.replace('1.50', '1.5')));
});

test('only objects and lists are compared as JSON', () => {
  for (const text of ['', 'text', '"text"', '12', '{"a": ', '[1] and more']) {
    assert.equal(sortedJson(text), null, text);
  }
  assert.equal(sortedJson(`[${'1,'.repeat(100_000)}1]`), null);
  for (const depth of [40, 50_000]) {
    assert.equal(sortedJson(`${'['.repeat(depth)}${']'.repeat(depth)}`), null);
  }
});
