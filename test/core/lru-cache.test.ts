import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LruCache } from '../../src/core/lru-cache.ts';

test('evicts the value that was used least recently', () => {
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

test('limits the sum of the sizes', () => {
  const cache = new LruCache<string>(5, (value) => value.length);
  for (const value of ['aa', 'bb', 'cc']) cache.set(value, value);
  assert.deepEqual(cache.values(), ['bb', 'cc']);
  cache.set('bb', 'b');
  cache.set('dd', 'dd');
  assert.deepEqual(cache.values(), ['cc', 'b', 'dd'], 'a replaced value frees its size');
  cache.set('cc', 'longer than the cache');
  assert.deepEqual(cache.values(), ['b', 'dd'], 'and it evicts no other value');
});
