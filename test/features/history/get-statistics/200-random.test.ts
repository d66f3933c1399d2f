import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { insertStatistics } from '../../../../harness/statistics.ts';
import {
  endStatuses,
  isPlayground,
  sourceOf,
  storedSources,
} from '../../../../src/core/execution/execution.ts';
import type { Tally } from '../../../../src/core/history/statistics.ts';
import { toId } from '../../../../src/core/id.ts';
import type { Bucket } from '../../../../src/features/history/contract/statistics-contract.ts';

/** Compares statistics with a count of every execution, by the calendar of `Intl`. */

const service = await startService();
after(service.close);

const quarterMs = 900_000;
/** Zones with a day on which the offset changes, or with an unusual offset. */
const places = [
  ['UTC', '2026-03-01'],
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-11-01'],
  ['America/St_Johns', '2026-03-08'],
  ['America/Havana', '2026-11-01'],
  ['Africa/Cairo', '2026-04-24'],
  ['Asia/Kolkata', '2026-06-01'],
  ['Asia/Kathmandu', '2026-06-01'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Pacific/Chatham', '2026-09-27'],
  ['Pacific/Kiritimati', '2026-12-31'],
] as const;
const groupings = ['status', 'source', 'version', 'model', 'key', 'errorCode'] as const;
const versionIds = [1, 2].map((n) => `00000000-0000-7000-8000-00000000001${n}`);
const keyIds = [1, 2].map((n) => `00000000-0000-7000-8000-00000000002${n}`);

const latencyMs = fc.oneof(fc.nat(50), fc.nat(5_000), fc.nat(3_600_000));
const call: fc.Arbitrary<Omit<Tally, 'agentId' | 'executedAtMs'>> = fc.record({
  status: fc.constantFrom(...endStatuses),
  source: fc.constantFrom(...storedSources),
  promptVersionId: fc.constantFrom(...versionIds),
  model: fc.constantFrom('openai/gpt-5.5', 'cueline/echo'),
  apiKeyId: fc.constantFrom(null, ...keyIds),
  errorCode: fc.constantFrom(null, 'MODEL_TIMEOUT', 'PROVIDER_ERROR'),
  labels: fc.constant(null),
  recorded: fc.boolean(),
  inputTokens: fc.nat(1_000),
  outputTokens: fc.nat(1_000),
  costUsd: fc.constantFrom('0', '0.1', '0.2', '0.0000000001'),
  costKnown: fc.boolean(),
  latencyMs: fc.option(latencyMs),
});
/** A random time in the days around, or next to a quarter of an hour. */
const offset = fc.oneof(
  fc.integer({ min: -60 * 3_600_000, max: 84 * 3_600_000 }),
  fc
    .tuple(fc.integer({ min: -240, max: 336 }), fc.constantFrom(-1, 0, 1))
    .map(([quarters, beside]) => quarters * quarterMs + beside),
);
const question = fc.record({
  place: fc.constantFrom(...places),
  level: fc.constantFrom('hour', 'day', 'all'),
  by: fc.subarray([...groupings]),
  marks: fc.constantFrom(null, 'false', 'true', 'true,false'),
  days: fc.tuple(fc.integer({ min: -2, max: 0 }), fc.integer({ min: 0, max: 2 })),
  calls: fc.array(fc.tuple(offset, call), { minLength: 1, maxLength: 40 }),
});

test('every execution is in the bucket of its step and group', async () => {
  await fc.assert(
    fc.asyncProperty(question, async ({ place: [zone, day], level, by, marks, days, calls }) => {
      const agent = await addAgent(service);
      const tallies = calls.map(
        ([ms, one]): Tally => ({ ...one, agentId: agent.id, executedAtMs: Date.parse(day) + ms }),
      );
      await insertStatistics(service.db, tallies);
      const [startDate = '', endDate = ''] = days.map((n) => dayAfter(day, n));
      const query = new URLSearchParams({ level, timeZone: zone, startDate, endDate });
      query.set('groupBy', by.join(','));
      query.set('totals', 'true');
      if (marks !== null) query.set('playground', marks);
      const { status, body } = await service.call('GET', `${agent.path}/statistics?${query}`, {
        user: service.ownerId,
      });
      assert.equal(status, 200);
      const wanted = (marks ?? 'false').split(',');
      const within = tallies.filter(({ executedAtMs, source }) => {
        const date = calendar(executedAtMs, zone).slice(0, 10);
        return (
          startDate <= date && date <= endDate && wanted.includes(String(isPlayground(source)))
        );
      });
      const stepOf = (ms: number) => {
        if (level === 'all') return '';
        return level === 'day' ? calendar(ms, zone).slice(0, 10) : calendar(ms, zone);
      };
      assertSame(body.buckets, within, stepOf, by);
      assertSame(body.totals, within, () => '', by);
      for (const { start, end } of body.buckets as Bucket[]) {
        // Exactly as long as the step.
        const [first, last] = [Date.parse(start), Date.parse(end)];
        assert.equal(stepOf(first), stepOf(last));
        if (level === 'all') continue;
        assert.notEqual(stepOf(first - 1), stepOf(first));
        assert.notEqual(stepOf(last + 1), stepOf(last));
      }
    }),
    { numRuns: 60 },
  );
});

test('minutes of the last hours', async () => {
  const nowMs = Date.now();
  const minute = fc.record({
    by: fc.subarray(['status', 'source'] as const),
    calls: fc.array(fc.tuple(fc.nat(5 * 60_000), call), { minLength: 1, maxLength: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(minute, async ({ by, calls }) => {
      const agent = await addAgent(service);
      const tallies = calls.map(
        ([ms, one]): Tally => ({ ...one, agentId: agent.id, executedAtMs: nowMs - ms }),
      );
      await insertStatistics(service.db, tallies);
      const startDate = new Date(nowMs - 10 * 60_000).toISOString();
      const query = `level=minute&timeZone=Asia/Kathmandu&groupBy=${by}&startDate=${startDate}`;
      const { body } = await service.call('GET', `${agent.path}/statistics?${query}`, {
        user: service.ownerId,
      });
      const unmarked = tallies.filter(({ source }) => !isPlayground(source));
      assertSame(body.buckets, unmarked, (ms) => String(Math.floor(ms / 60_000)), by);
    }),
    { numRuns: 10 },
  );
});

function assertSame(
  buckets: readonly Bucket[],
  tallies: readonly Tally[],
  stepOf: (ms: number) => string,
  by: readonly (typeof groupings)[number][],
): void {
  const expected = Map.groupBy(tallies, (one) =>
    JSON.stringify([stepOf(one.executedAtMs), ...by.map((grouping) => ofTally[grouping](one))]),
  );
  const found = new Map(
    buckets.map((one) => [
      JSON.stringify([
        stepOf(Date.parse(one.start)),
        ...by.map((grouping) => ofBucket[grouping](one)),
      ]),
      one,
    ]),
  );
  assert.equal(found.size, buckets.length);
  assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
  for (const [name, own] of expected) {
    const bucket = found.get(name);
    assert.ok(bucket);
    assert.equal(Object.keys(bucket).length, 10 + by.length + Number(by.includes('version')));
    const sum = (of: (one: Tally) => number) => own.reduce((total, one) => total + of(one), 0);
    const succeeded = sum((one) => Number(one.status === 'success'));
    const ran = succeeded + sum((one) => Number(one.status === 'failed'));
    assert.deepEqual(
      [bucket.count, bucket.recorded, bucket.successRate, bucket.inputTokens, bucket.outputTokens],
      [
        ...[own.length, sum((one) => Number(one.recorded)), ran === 0 ? null : succeeded / ran],
        ...[sum((one) => one.inputTokens), sum((one) => one.outputTokens)],
      ],
    );
    assert.equal(
      bucket.costUnknown,
      sum((one) => Number(!one.costKnown)),
    );
    // Sums of floats in this test are inexact; those of the response are exact.
    assert.ok(Math.abs(bucket.costUSD - sum((one) => Number(one.costUsd))) < 1e-12);
    assertLatencies(
      bucket,
      own.map((one) => one.latencyMs).filter((ms) => ms !== null),
    );
  }
}

function assertLatencies({ latencyMs }: Bucket, all: readonly number[]): void {
  assert.equal(latencyMs === null, all.length === 0);
  if (latencyMs === null) return;
  const sorted = all.toSorted((a, b) => a - b);
  for (const [name, p] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    const exact = sorted[Math.ceil(sorted.length * p) - 1] ?? Number.NaN;
    const off = Math.abs(latencyMs[name] - exact);
    assert.ok(off <= exact * 0.1 + 0.5, `${name}: ${latencyMs[name]} for ${exact}`);
  }
}

const ofTally: Record<(typeof groupings)[number], (one: Tally) => unknown> = {
  status: (one) => one.status,
  source: (one) => sourceOf(one.source),
  version: (one) => toId('version', one.promptVersionId),
  model: (one) => one.model,
  key: (one) => one.apiKeyId && toId('key', one.apiKeyId),
  errorCode: (one) => one.errorCode,
};
const ofBucket: Record<(typeof groupings)[number], (one: Bucket) => unknown> = {
  status: (one) => one.status,
  source: (one) => one.source,
  version: (one) => one.promptVersionId,
  model: (one) => one.model,
  key: (one) => one.apiKeyId,
  errorCode: (one) => one.errorCode,
};

/** Local date, hour and offset of the zone: `2026-03-29 03 GMT+02:00`. */
function calendar(ms: number, zone: string): string {
  const parts = Object.fromEntries(
    clockOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts.year}-${parts.month}-${parts.day} ${parts.hour} ${parts.timeZoneName}`;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    });
  clocks.set(timeZone, clock);
  return clock;
}

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
}
