import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  agentLimits,
  type Counts,
  keyLimits,
  monthOf,
  monthStartMs,
  noLimits,
  peekWindows,
  type RateLimits,
  roll,
  secondsUntil,
  spend,
  tightest,
  type Window,
  type WindowState,
  windowStartMs,
  windows,
} from '../../../src/core/agent/limits.ts';

const startMs = Date.UTC(2026, 10, 21, 23, 58, 30);
const at = (text: string) => Date.parse(`2026-11-${text}Z`);
const limits = (perMinute: number | null, perHour: number | null, perDay: number | null) => ({
  requestsPerMinute: perMinute,
  requestsPerHour: perHour,
  requestsPerDay: perDay,
});

test('windows follow the UTC calendar', () => {
  const counts = fresh();
  const call = (text: string) => {
    roll(counts, at(text));
    return spend(counts, keyLimits(limits(2, 3, 4))).passed;
  };
  assert.deepEqual(
    ['21T09:59:58', '21T09:59:59.999', '21T09:59:59.999', '21T10:00:00', '21T10:00:00'].map(call),
    [true, true, false, true, true],
  );
  // Four on this day: the day window is full until midnight.
  assert.deepEqual(['21T11:00:00', '21T23:59:59.999', '22T00:00:00'].map(call), [
    false,
    false,
    true,
  ]);
});

test('limits are exact, and a window never moves backwards', () => {
  fc.assert(
    fc.property(anyLimits, fc.array(step, { maxLength: 60 }), (own, steps) => {
      const counts = fresh();
      const passed = new Map<string, number>();
      let nowMs = startMs;
      for (const stepMs of steps) {
        nowMs += stepMs;
        const before = { ...counts };
        roll(counts, nowMs);
        for (const window of windows) assert.ok(counts[window] >= before[window]);
        const rolled = { ...counts };
        const verdict = spend(counts, keyLimits(own));
        const name = (window: Window) => `${window} ${counts[window]}`;
        if (verdict.passed) {
          for (const window of windows) {
            assert.equal(counts[`${window}Used`], rolled[`${window}Used`] + 1);
            passed.set(name(window), (passed.get(name(window)) ?? 0) + 1);
          }
        } else {
          // A refused call increments no window, and the named window is full.
          assert.deepEqual(counts, rolled);
          assert.equal(passed.get(name(verdict.by.window)) ?? 0, verdict.by.limit);
        }
        for (const { window, limit } of keyLimits(own)) {
          assert.ok((passed.get(name(window)) ?? 0) <= limit);
        }
      }
    }),
  );
});

test('a refusal names the full window that resets last, and every verdict the remaining calls', () => {
  fc.assert(
    fc.property(anyLimits, fc.nat(8), (own, calls) => {
      const counts = fresh();
      roll(counts, startMs);
      for (let i = 0; i < calls; i++) spend(counts, keyLimits(own));
      const verdict = spend(counts, keyLimits(own));
      assert.deepEqual(
        verdict.states.map(({ window }) => window),
        keyLimits(own).map(({ window }) => window),
      );
      for (const state of verdict.states) {
        assert.equal(state.remaining, Math.max(0, state.limit - counts[`${state.window}Used`]));
        assert.ok(state.resetAtMs > startMs);
        assert.equal(state.resetAtMs, windowStartMs(state.window, counts[state.window] + 1));
      }
      if (verdict.passed) return;
      assert.equal(verdict.by.remaining, 0);
      for (const state of verdict.states) {
        if (state.remaining === 0) assert.ok(state.resetAtMs <= verdict.by.resetAtMs);
      }
    }),
  );
});

test('peeking predicts the next verdict and increments nothing', () => {
  fc.assert(
    fc.property(anyLimits, fc.nat(8), step, (own, calls, laterMs) => {
      const counts = fresh();
      roll(counts, startMs);
      for (let i = 0; i < calls; i++) spend(counts, keyLimits(own));
      const before = { ...counts };
      const peeked = peekWindows(counts, keyLimits(own), startMs + laterMs);
      assert.deepEqual(counts, before);
      roll(counts, startMs + laterMs);
      const { passed, states } = spend(counts, keyLimits(own));
      assert.equal(
        passed,
        peeked.every(({ remaining }) => remaining > 0),
      );
      for (const [at, { used, ...state }] of peeked.entries()) {
        assert.deepEqual(states[at]?.resetAtMs, state.resetAtMs);
        assert.equal(states[at]?.used, passed ? used + 1 : used);
      }
    }),
  );
});

test('without limits every call passes; with a limit of zero none does', () => {
  const counts = fresh();
  roll(counts, startMs);
  assert.deepEqual(spend(counts, keyLimits(noLimits)), { passed: true, states: [] });
  assert.equal(spend(counts, keyLimits(limits(0, null, null))).passed, false);
});

test('the lower limit of agent and stage applies, and its scope is named', () => {
  const stage = limits(10, 500, null);
  assert.deepEqual(agentLimits(limits(5, null, 7), stage), [
    { scope: 'agent', window: 'minute', limit: 5 },
    { scope: 'stage', window: 'hour', limit: 500 },
    { scope: 'agent', window: 'day', limit: 7 },
  ]);
  assert.deepEqual(agentLimits(limits(11, 500, null), stage), [
    { scope: 'stage', window: 'minute', limit: 10 },
    { scope: 'agent', window: 'hour', limit: 500 },
  ]);
  assert.deepEqual(agentLimits(noLimits, noLimits), []);
});

test('the tightest window has the fewest remaining calls and, among equals, resets last', () => {
  const state = (window: Window, remaining: number, resetAtMs: number): WindowState => ({
    ...{ scope: 'key', window, limit: 9, used: 9 - remaining, remaining, resetAtMs },
  });
  const [a, b, c] = [state('minute', 3, 1), state('hour', 2, 2), state('day', 2, 3)];
  assert.equal(tightest([a, b, c]), c);
  assert.equal(tightest([a]), a);
  assert.equal(tightest([]), undefined);
});

test('seconds are rounded up to at least one', () => {
  const cases = [
    [1_000, 0, 1],
    [1_001, 0, 2],
    [1, 0, 1],
    [0, 0, 1],
    [0, 5_000, 1],
  ] as const;
  for (const [then, now, seconds] of cases) assert.equal(secondsUntil(then, now), seconds);
});

test('months follow the UTC calendar', () => {
  assert.equal(monthOf(Date.UTC(1970, 0, 1)), 0);
  assert.equal(monthOf(Date.UTC(2026, 10, 30, 23, 59, 59, 999)), 56 * 12 + 10);
  assert.equal(monthStartMs(56 * 12 + 11), Date.UTC(2026, 11, 1));
  fc.assert(
    fc.property(fc.nat(Date.UTC(2200, 0)), (ms) => {
      const month = monthOf(ms);
      assert.ok(monthStartMs(month) <= ms && ms < monthStartMs(month + 1));
    }),
  );
});

function fresh(): Counts {
  return { minute: 0, minuteUsed: 0, hour: 0, hourUsed: 0, day: 0, dayUsed: 0 };
}

const limit = fc.option(fc.nat(6));
const anyLimits: fc.Arbitrary<RateLimits> = fc.record({
  requestsPerMinute: limit,
  requestsPerHour: limit,
  requestsPerDay: limit,
});
/** Mostly small steps, sometimes hours; occasionally the clock is set back. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.nat(20_000) },
  { weight: 2, arbitrary: fc.nat(3 * 3_600_000) },
  { weight: 1, arbitrary: fc.integer({ min: -7_200_000, max: -1 }) },
);
