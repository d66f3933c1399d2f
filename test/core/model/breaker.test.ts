import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Breaker, closedBreaker, enter, leave } from '../../../src/core/model/breaker.ts';

const answered = { kind: 'answered' } as const;
const failed = { kind: 'failed', retryAfterMs: 0 } as const;
/** In the middle: a pause is as long as it is meant. */
const middle = 0.5;

function go(breaker: Breaker, nowMs: number): number {
  const entry = enter(breaker, nowMs);
  assert.equal(entry.kind, 'go');
  return entry.kind === 'go' ? entry.epoch : -1;
}

/** One call that fails; how long nobody may call then. */
function failAt(breaker: Breaker, nowMs: number): number {
  leave(breaker, go(breaker, nowMs), failed, nowMs, middle);
  const entry = enter(breaker, nowMs);
  if (entry.kind === 'open') return entry.leftMs;
  if (entry.kind === 'go') leave(breaker, entry.epoch, { kind: 'unknown' }, nowMs, middle);
  return 0;
}

function opened(): Breaker {
  const breaker = closedBreaker();
  for (let i = 0; i < 9; i++) assert.equal(failAt(breaker, 0), 0);
  assert.equal(failAt(breaker, 0), 1_000);
  return breaker;
}

/** How many calls may begin now. */
function room(breaker: Breaker, nowMs: number): number[] {
  const epochs: number[] = [];
  for (let entry = enter(breaker, nowMs); entry.kind === 'go'; entry = enter(breaker, nowMs)) {
    epochs.push(entry.epoch);
    if (epochs.length === 1_000) break;
  }
  return epochs;
}

test('while all is well every call goes', () => {
  assert.equal(room(closedBreaker(), 0).length, 1_000);
});

test('ten failures in a row open it, and an answer in between counts from anew', () => {
  const breaker = closedBreaker();
  for (let i = 0; i < 9; i++) assert.equal(failAt(breaker, 0), 0);
  leave(breaker, go(breaker, 0), answered, 0, middle);
  for (let i = 0; i < 9; i++) assert.equal(failAt(breaker, 0), 0);
  assert.equal(failAt(breaker, 0), 1_000);
});

test('the pause doubles with each probe that fails, up to half a minute', () => {
  const breaker = opened();
  const pauses: number[] = [];
  let nowMs = 1_000;
  for (let i = 0; i < 7; i++) {
    const pauseMs = failAt(breaker, nowMs);
    pauses.push(pauseMs);
    nowMs += pauseMs;
  }
  assert.deepEqual(pauses, [2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test('after the pause one call goes, and no second one before it is answered', () => {
  const breaker = opened();
  assert.equal(enter(breaker, 999).kind, 'open');
  const [probe, ...more] = room(breaker, 1_000);
  assert.equal(more.length, 0);
  leave(breaker, probe ?? -1, { kind: 'unknown' }, 1_000, middle);
  assert.equal(room(breaker, 1_000).length, 1);
});

test('then each answer makes room for two', () => {
  const breaker = opened();
  let under = room(breaker, 1_000);
  for (const width of [2, 4, 8, 16]) {
    for (const epoch of under) leave(breaker, epoch, answered, 1_000, middle);
    under = room(breaker, 1_000);
    assert.equal(under.length, width);
  }
});

test('a minute after the first answer it is as if nothing had been', () => {
  const breaker = opened();
  leave(breaker, go(breaker, 1_000), answered, 1_000, middle);
  assert.equal(room(breaker, 60_999).length, 2);
  assert.equal(room(breaker, 61_000).length, 1_000);
});

test('calls that were under way when it opened neither close it, nor open it anew, nor take up room', () => {
  const breaker = closedBreaker();
  const old = Array.from({ length: 30 }, () => go(breaker, 0));
  for (let i = 0; i < 10; i++) leave(breaker, old[i] ?? -1, failed, 0, middle);
  leave(breaker, old[10] ?? -1, answered, 1, middle);
  leave(breaker, old[11] ?? -1, failed, 999, middle);
  assert.equal(enter(breaker, 999).kind, 'open');
  assert.equal(room(breaker, 1_000).length, 1);
});

test('who asks to be left alone is, at once, and a little longer', () => {
  const breaker = closedBreaker();
  const under = Array.from({ length: 9 }, () => go(breaker, 0));
  leave(breaker, under[0] ?? -1, { kind: 'failed', retryAfterMs: 7_000 }, 0, 1);
  assert.deepEqual(enter(breaker, 0), { kind: 'open', leftMs: 7_700 });
  assert.equal(room(breaker, 7_700).length, 4);
});

test('a probe that says nothing for half a minute is followed by another, and by one more after that', () => {
  const breaker = opened();
  const probe = go(breaker, 1_000);
  assert.equal(enter(breaker, 30_999).kind, 'full');
  const second = go(breaker, 31_000);
  assert.equal(enter(breaker, 60_999).kind, 'full');
  // The first is still under way when the second is answered: all is well again.
  leave(breaker, second, answered, 61_000, middle);
  assert.equal(room(breaker, 61_000).length, 1);
  leave(breaker, probe, answered, 61_000, middle);
});

test('however long a provider asks to be left alone, after half a minute one call asks again', () => {
  const breaker = closedBreaker();
  leave(breaker, go(breaker, 0), { kind: 'failed', retryAfterMs: 3_600_000 }, 0, 0);
  const entry = enter(breaker, 0);
  assert.equal(entry.kind === 'open' && entry.leftMs, 30_000);
  go(breaker, 30_000);
});
