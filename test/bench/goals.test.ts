import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figures, verdict } from '../../bench/goals.ts';

test('a figure at its bound meets the goal', () => {
  const what = 'of bare';
  assert.equal(verdict([{ what, value: 0.5, least: 0.5 }]), 'Met: of bare 0.5 (at least 0.5).');
  assert.equal(
    verdict([
      { what, value: 0.49, least: 0.5 },
      { what: 'it', unit: 'ms', value: 10, most: 10 },
    ]),
    'Met: it 10 ms (at most 10 ms). Missed: of bare 0.49 (at least 0.5).',
  );
});

test('figures rejects a column without figures', () => {
  assert.throws(() => figures({ columns: ['a', 'b'], rows: [['x', '']] }, 1), /no figures/);
});
