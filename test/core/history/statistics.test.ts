import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { endStatuses, sources } from '../../../src/core/execution/execution.ts';
import {
  addUp,
  addUpBreakdown,
  type BreakdownBucket,
  type Bucket,
  binLatencyMs,
  breakdownLevels,
  byMinute,
  latencyBin,
  levelMs,
  levels,
  percentile,
  type Tally,
} from '../../../src/core/history/statistics.ts';

const hourMs = 3_600_000;
const latencyMs = fc.oneof(fc.nat(50), fc.nat(5_000), fc.nat(hourMs));

test('the latency of a bin is accurate to 10%, after rounding to a millisecond', () => {
  fc.assert(fc.property(latencyMs, (ms) => assertNear(binLatencyMs(latencyBin(ms)), ms)));
  assert.equal(binLatencyMs(latencyBin(0)), 0);
});

test('bins are monotonic, and an hour is in bin 88', () => {
  fc.assert(
    fc.property(latencyMs, latencyMs, (a, b) => {
      if (a <= b) assert.ok(latencyBin(a) <= latencyBin(b));
    }),
  );
  assert.equal(latencyBin(hourMs), 88);
  assert.equal(latencyBin(Number.MAX_SAFE_INTEGER), 95);
});

test('a percentile over all latencies is accurate to 10%', () => {
  const share = fc.constantFrom(0, 0.01, 0.5, 0.95, 0.99, 1);
  fc.assert(
    fc.property(fc.array(latencyMs, { minLength: 1, maxLength: 200 }), share, (all, p) => {
      const [bucket] = addUp(byMinute(all.map((ms) => tally({ latencyMs: ms }))));
      const sorted = all.toSorted((a, b) => a - b);
      const exact = sorted[Math.max(1, Math.ceil(all.length * p)) - 1] ?? Number.NaN;
      assertNear(percentile(bucket?.latency ?? [], p) ?? Number.NaN, exact);
    }),
  );
});

test('without latencies there is no percentile', () => {
  assert.equal(percentile([], 0.5), null);
  assert.equal(percentile([0, 0], 0.5), null);
  assert.deepEqual(addUp(byMinute([tally({ latencyMs: null })]))[0]?.latency, []);
});

test('every tally is counted once at every level, in the bucket of its time', () => {
  fc.assert(
    fc.property(fc.array(anyTally, { maxLength: 40 }), (tallies) => {
      for (const level of levels) {
        assertComplete(
          addUp(byMinute(tallies)).filter((one) => one.level === level),
          tallies,
          ['agentId', 'status', 'source'],
        );
      }
      for (const level of breakdownLevels) {
        assertComplete(
          addUpBreakdown(byMinute(tallies)).filter((one) => one.level === level),
          tallies,
          ['agentId', 'status', 'source', 'promptVersionId', 'model', 'apiKeyId', 'errorCode'],
        );
      }
    }),
  );
});

function assertComplete<B extends Bucket | BreakdownBucket>(
  buckets: readonly B[],
  tallies: readonly Tally[],
  by: readonly (keyof B & keyof Tally)[],
): void {
  const sum = (of: (one: B) => number) => buckets.reduce((total, one) => total + of(one), 0);
  assert.equal(
    sum((one) => one.occurred),
    tallies.length,
  );
  assert.equal(
    sum((one) => one.recorded),
    tallies.filter((one) => one.recorded).length,
  );
  assert.equal(
    sum((one) => one.inputTokens),
    tallies.reduce((total, one) => total + one.inputTokens, 0),
  );
  assert.equal(
    sum((one) => one.costUnknown),
    tallies.filter((one) => !one.costKnown).length,
  );
  assert.equal(
    sum((one) => one.latency.reduce((a, b) => a + b, 0)),
    tallies.filter((one) => one.latencyMs !== null).length,
  );
  for (const tallied of tallies) {
    const own = buckets.filter((bucket) =>
      by.every((name) => Object.is(bucket[name], tallied[name])),
    );
    const at = own.map(({ level, startMs }) => [startMs, startMs + levelMs[level]] as const);
    const inside = at.filter(
      ([from, to]) => from <= tallied.executedAtMs && tallied.executedAtMs < to,
    );
    assert.equal(inside.length, 1);
  }
}

test('costs stay decimal texts and are never summed as floats', () => {
  fc.assert(
    fc.property(fc.array(anyTally, { maxLength: 40 }), (tallies) => {
      const texts = tallies.map((one) => one.costUsd).filter((text) => text !== '0');
      for (const level of levels) {
        const own = addUp(byMinute(tallies)).filter((one) => one.level === level);
        assert.deepEqual(own.flatMap((one) => one.costsUsd).sort(), [...texts].sort());
      }
    }),
  );
});

test('buckets have a fixed order, because their rows are locked in it', () => {
  fc.assert(
    fc.property(fc.array(anyTally, { maxLength: 40 }), (tallies) => {
      const names = (all: readonly Tally[]) =>
        [...addUp(byMinute(all)), ...addUpBreakdown(byMinute(all))].map(
          ({ costsUsd, latency, ...key }) => Object.values(key).join(' '),
        );
      assert.deepEqual(names(tallies.toReversed()), names(tallies));
    }),
  );
});

const anyTally: fc.Arbitrary<Tally> = fc.record({
  agentId: fc.constantFrom('a', 'b'),
  executedAtMs: fc.nat(3 * 24 * hourMs).map((ms) => Date.UTC(2026, 10, 20) + ms),
  status: fc.constantFrom(...endStatuses),
  source: fc.constantFrom(...sources),
  promptVersionId: fc.constantFrom('v1', 'v2'),
  model: fc.constantFrom('openai/gpt-5.5', 'cueline/echo'),
  apiKeyId: fc.constantFrom(null, 'k1', 'k2'),
  errorCode: fc.constantFrom(null, 'MODEL_TIMEOUT', 'PROVIDER_ERROR'),
  labels: fc.constant(null),
  recorded: fc.boolean(),
  inputTokens: fc.nat(1_000),
  outputTokens: fc.nat(1_000),
  costUsd: fc.constantFrom('0', '0.1', '0.2', '0.0000000001', '12.3456789012'),
  costKnown: fc.boolean(),
  latencyMs: fc.option(latencyMs),
});

function tally(some: Partial<Tally>): Tally {
  return {
    agentId: 'a',
    executedAtMs: 0,
    status: 'success',
    source: 'api',
    promptVersionId: 'v1',
    model: 'cueline/echo',
    apiKeyId: 'k1',
    errorCode: null,
    labels: null,
    recorded: true,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: '0',
    costKnown: true,
    latencyMs: 0,
    ...some,
  };
}

function assertNear(estimate: number, exact: number): void {
  const off = Math.abs(estimate - exact);
  assert.ok(off <= exact * 0.1 + 0.5, `${estimate} for ${exact}`);
}
