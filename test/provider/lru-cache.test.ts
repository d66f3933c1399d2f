import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LruCache } from '../../src/provider/lru-cache.ts';

test('what was used last is kept, the rest is made anew', () => {
  const cache = new LruCache<string>(2);
  const made: string[] = [];
  const get = (key: string) =>
    cache.getOrCreate(key, () => {
      made.push(key);
      return key.toUpperCase();
    });
  assert.deepEqual(['a', 'b', 'a', 'c', 'a', 'b'].map(get), ['A', 'B', 'A', 'C', 'A', 'B']);
  assert.deepEqual(made, ['a', 'b', 'c', 'b']);
  cache.delete('b');
  cache.delete('never there');
  get('b');
  assert.deepEqual(made, ['a', 'b', 'c', 'b', 'b']);
});
