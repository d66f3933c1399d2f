import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tagBound } from '../../../src/core/execution/tag-bound.ts';

test('the bound is 0 until a full span was observed', () => {
  const bound = tagBound();
  assert.equal(bound.over(1_000, 5_000), 0);
  bound.observe(7, 5_000);
  assert.equal(bound.over(1_000, 5_999), 0);
  assert.equal(bound.over(1_000, 6_000), 7);
});

test('the bound follows the observed tags with a delay of one span', () => {
  const bound = tagBound();
  for (let second = 0; second < 300; second++) bound.observe(second, second * 1_000);
  assert.equal(bound.over(2_000, 299_000), 297);
  assert.equal(bound.over(20_000, 299_000), 279);
});

test('the bound drops at once when tags go back', () => {
  const bound = tagBound();
  bound.observe(100, 0);
  bound.observe(40, 10_000);
  assert.equal(bound.over(5_000, 10_000), 40);
});

/** Observed tags with the time between them. */
const observations = fc.array(fc.tuple(fc.nat(3_000), fc.nat(1_000)), { maxLength: 200 });

test('the bound never exceeds a tag within the span or the last one before it', () => {
  fc.assert(
    fc.property(observations, fc.nat(30_000), (steps, spanMs) => {
      const bound = tagBound();
      const observed: { atMs: number; tag: number }[] = [];
      let nowMs = 0;
      for (const [afterMs, tag] of steps) {
        nowMs += afterMs;
        bound.observe(tag, nowMs);
        observed.push({ atMs: nowMs, tag });
        const from = nowMs - spanMs;
        const before = observed.findLast(({ atMs }) => atMs <= from);
        const within = observed.filter(({ atMs }) => atMs > from);
        const highest = before ? Math.min(before.tag, ...within.map((one) => one.tag)) : 0;
        assert.ok(bound.over(spanMs, nowMs) <= highest);
      }
    }),
  );
});
