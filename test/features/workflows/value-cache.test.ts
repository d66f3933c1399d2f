import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf } from '../../../src/core/workflow/document.ts';
import { noValues, valueCache } from '../../../src/engine/advance/value-cache.ts';

const holding = (chars: number) => ({ ...noValues, input: documentOf('x'.repeat(chars)) });

test('values of one workflow run are merged', () => {
  const cache = valueCache();
  cache.add('run', holding(1));
  cache.add('run', { ...noValues, outputs: new Map([['a', documentOf('1')]]) });
  cache.add('run', { ...noValues, lists: new Map([['b', documentOf('[2]')]]) });
  const { input, outputs, lists } = cache.of('run');
  assert.deepEqual(
    [input?.json, outputs.get('a')?.json, lists.get('b')?.elements()],
    ['x', '1', ['2']],
  );
  cache.forget('run');
  assert.equal(cache.of('run'), noValues);
});

test('the cache evicts the least recently used workflow run', () => {
  const cache = valueCache();
  for (const name of ['a', 'b', 'c']) cache.add(name, holding(5_000_000));
  assert.ok(cache.of('a').input);
  cache.add('d', holding(5_000_000));
  const kept = ['a', 'b', 'c', 'd'].filter((name) => cache.of(name).input !== null);
  assert.deepEqual(kept, ['a', 'c', 'd']);
  // The sum stays exact after additions and evictions.
  for (let round = 0; round < 20; round++) cache.add('d', holding(5_000_000));
  assert.ok(cache.of('a').input && cache.of('c').input);
  cache.add('e', holding(20_000_000));
  assert.equal(cache.of('e'), noValues, 'what is too long by itself');
  assert.ok(cache.of('d').input, 'evicts no other entry');
});
