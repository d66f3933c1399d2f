import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recent } from '../../src/provider/lru-cache.ts';

test('what was used last is kept, the rest is made anew', () => {
  const recent = new Recent<string>(2);
  const made: string[] = [];
  const get = (key: string) =>
    recent.get(key, () => {
      made.push(key);
      return key.toUpperCase();
    });
  assert.deepEqual(['a', 'b', 'a', 'c', 'a', 'b'].map(get), ['A', 'B', 'A', 'C', 'A', 'B']);
  assert.deepEqual(made, ['a', 'b', 'c', 'b']);
  recent.drop('b');
  recent.drop('never there');
  get('b');
  assert.deepEqual(made, ['a', 'b', 'c', 'b', 'b']);
});
