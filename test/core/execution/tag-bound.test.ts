import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tagBound } from '../../../src/core/execution/tag-bound.ts';

test('there is no bound before the span has been seen', () => {
  const bound = tagBound();
  assert.equal(bound.over(1_000, 5_000), 0);
  bound.observe(7, 5_000);
  assert.equal(bound.over(1_000, 5_999), 0);
  assert.equal(bound.over(1_000, 6_000), 7);
});

test('the bound moves with what was seen, a span behind', () => {
  const bound = tagBound();
  for (let second = 0; second < 300; second++) bound.observe(second, second * 1_000);
  assert.equal(bound.over(2_000, 299_000), 297);
  assert.equal(bound.over(20_000, 299_000), 279);
});

test('a clock that goes back takes the bound with it at once', () => {
  const bound = tagBound();
  bound.observe(100, 0);
  bound.observe(40, 10_000);
  assert.equal(bound.over(5_000, 10_000), 40);
});

/** Sightings some time apart, each of a tag. */
const sightings = fc.array(fc.tuple(fc.nat(3_000), fc.nat(1_000)), { maxLength: 200 });

test('the bound is never above a tag seen within the span, nor above the last one seen before it', () => {
  fc.assert(
    fc.property(sightings, fc.nat(30_000), (steps, spanMs) => {
      const bound = tagBound();
      const seen: { atMs: number; tag: number }[] = [];
      let nowMs = 0;
      for (const [afterMs, tag] of steps) {
        nowMs += afterMs;
        bound.observe(tag, nowMs);
        seen.push({ atMs: nowMs, tag });
        const from = nowMs - spanMs;
        const before = seen.findLast(({ atMs }) => atMs <= from);
        const within = seen.filter(({ atMs }) => atMs > from);
        const highest = before ? Math.min(before.tag, ...within.map((one) => one.tag)) : 0;
        assert.ok(bound.over(spanMs, nowMs) <= highest);
      }
    }),
  );
});
