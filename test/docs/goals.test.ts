import assert from 'node:assert/strict';
import { test } from 'node:test';
import { benchmarks } from '../../bench/benchmarks.ts';
import { figures, verdict } from '../../bench/goals.ts';
import { results } from '../../bench/results.ts';
import { tablesIn } from '../../bench/table.ts';
import { readSection } from '../../harness/results.ts';

/** What `bench/RESULTS.md` says of each goal. */

const kept = (name: string) => tablesIn(readSection(results, name) ?? '');

test('below each goal stands what the figures of its tables meet, and what they miss', () => {
  for (const { name, goal, marks } of benchmarks) {
    const section = readSection(results, name) ?? '';
    assert.equal(goal !== undefined && section !== '', section.includes('\nGoal: '), name);
    if (marks) assert.ok(section.includes(`\n${verdict(marks(kept(name), kept))}\n`), name);
  }
});

test('a goal is met at its bound, and no figure meets none', () => {
  const what = 'of bare';
  assert.equal(verdict([{ what, value: 0.5, least: 0.5 }]), 'Met: of bare 0.5 (at least 0.5).');
  assert.equal(
    verdict([
      { what, value: 0.49, least: 0.5 },
      { what: 'it', unit: 'ms', value: 10, most: 10 },
    ]),
    'Met: it 10 ms (at most 10 ms). Missed: of bare 0.49 (at least 0.5).',
  );
  assert.throws(() => figures({ head: ['a', 'b'], rows: [['x', '']] } as never, 1), /no figures/);
});
