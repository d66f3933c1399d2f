import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf } from '../../../src/core/workflow/document.ts';
import { nothing, valueCache } from '../../../src/flow/workflow/value-cache.ts';

const holding = (chars: number) => ({ ...nothing, input: documentOf('x'.repeat(chars)) });

test('what is read of a run one after the other is kept together', () => {
  const memory = valueCache();
  memory.add('run', holding(1));
  memory.add('run', { ...nothing, outputs: new Map([['a', documentOf('1')]]) });
  memory.add('run', { ...nothing, lists: new Map([['b', documentOf('[2]')]]) });
  const { input, outputs, lists } = memory.of('run');
  assert.deepEqual(
    [input?.json, outputs.get('a')?.json, lists.get('b')?.elements()],
    ['x', '1', ['2']],
  );
  memory.forget('run');
  assert.equal(memory.of('run'), nothing);
});

test('no more is kept than so much, and what went on longest ago is forgotten', () => {
  const memory = valueCache();
  for (const name of ['a', 'b', 'c']) memory.add(name, holding(5_000_000));
  assert.ok(memory.of('a').input);
  memory.add('d', holding(5_000_000));
  const kept = ['a', 'b', 'c', 'd'].filter((name) => memory.of(name).input !== null);
  assert.deepEqual(kept, ['a', 'c', 'd']);
  // The sum is right whatever is added to and forgotten.
  for (let turn = 0; turn < 20; turn++) memory.add('d', holding(5_000_000));
  assert.ok(memory.of('a').input && memory.of('c').input);
  memory.add('e', holding(20_000_000));
  assert.equal(memory.of('e'), nothing, 'what is too long by itself');
  assert.ok(memory.of('d').input, 'takes the place of nobody');
});
