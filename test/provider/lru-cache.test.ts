import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LruCache } from '../../src/provider/lru-cache.ts';

test('evicts the least recently used entry', () => {
  const cache = new LruCache<string>(2);
  const created: string[] = [];
  const get = (key: string) =>
    cache.getOrCreate(key, () => {
      created.push(key);
      return key.toUpperCase();
    });
  assert.deepEqual(['a', 'b', 'a', 'c', 'a', 'b'].map(get), ['A', 'B', 'A', 'C', 'A', 'B']);
  assert.deepEqual(created, ['a', 'b', 'c', 'b']);
  cache.delete('b');
  cache.delete('unknown');
  get('b');
  assert.deepEqual(created, ['a', 'b', 'c', 'b', 'b']);
});
