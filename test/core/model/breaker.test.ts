import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Breaker, closedBreaker, enter, leave } from '../../../src/core/model/breaker.ts';

const answered = { kind: 'answered' } as const;
const failed = { kind: 'failed', retryAfterMs: 0 } as const;
/** A random value without jitter. */
const noJitter = 0.5;

function go(breaker: Breaker, nowMs: number): number {
  const entry = enter(breaker, nowMs);
  assert.equal(entry.kind, 'go');
  return entry.kind === 'go' ? entry.epoch : -1;
}

/** Fails one call and returns the remaining pause. */
function failAt(breaker: Breaker, nowMs: number): number {
  leave(breaker, go(breaker, nowMs), failed, nowMs, noJitter);
  const entry = enter(breaker, nowMs);
  if (entry.kind === 'open') return entry.leftMs;
  if (entry.kind === 'go') leave(breaker, entry.epoch, { kind: 'unknown' }, nowMs, noJitter);
  return 0;
}

function opened(): Breaker {
  const breaker = closedBreaker();
  for (let i = 0; i < 9; i++) assert.equal(failAt(breaker, 0), 0);
  assert.equal(failAt(breaker, 0), 1_000);
  return breaker;
}

/** The epochs of all calls that may start now. */
function enterAll(breaker: Breaker, nowMs: number): number[] {
  const epochs: number[] = [];
  for (let entry = enter(breaker, nowMs); entry.kind === 'go'; entry = enter(breaker, nowMs)) {
    epochs.push(entry.epoch);
    if (epochs.length === 1_000) break;
  }
  return epochs;
}

test('a closed breaker allows every call', () => {
  assert.equal(enterAll(closedBreaker(), 0).length, 1_000);
});

test('opens after ten consecutive failures; an answer resets the count', () => {
  const breaker = closedBreaker();
  for (let i = 0; i < 9; i++) assert.equal(failAt(breaker, 0), 0);
  leave(breaker, go(breaker, 0), answered, 0, noJitter);
  for (let i = 0; i < 9; i++) assert.equal(failAt(breaker, 0), 0);
  assert.equal(failAt(breaker, 0), 1_000);
});

test('the pause doubles with each failed probe, up to 30 seconds', () => {
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

test('after the pause one probe is allowed, and the next one only after its end', () => {
  const breaker = opened();
  assert.equal(enter(breaker, 999).kind, 'open');
  const [probe, ...more] = enterAll(breaker, 1_000);
  assert.equal(more.length, 0);
  leave(breaker, probe ?? -1, { kind: 'unknown' }, 1_000, noJitter);
  assert.equal(enterAll(breaker, 1_000).length, 1);
});

test('each answer during recovery doubles the allowed calls', () => {
  const breaker = opened();
  let inProgress = enterAll(breaker, 1_000);
  for (const width of [2, 4, 8, 16]) {
    for (const epoch of inProgress) leave(breaker, epoch, answered, 1_000, noJitter);
    inProgress = enterAll(breaker, 1_000);
    assert.equal(inProgress.length, width);
  }
});

test('closes a minute after the first answer', () => {
  const breaker = opened();
  leave(breaker, go(breaker, 1_000), answered, 1_000, noJitter);
  assert.equal(enterAll(breaker, 60_999).length, 2);
  assert.equal(enterAll(breaker, 61_000).length, 1_000);
});

test('calls from before the opening neither close nor reopen it, and occupy no slot', () => {
  const breaker = closedBreaker();
  const old = Array.from({ length: 30 }, () => go(breaker, 0));
  for (let i = 0; i < 10; i++) leave(breaker, old[i] ?? -1, failed, 0, noJitter);
  leave(breaker, old[10] ?? -1, answered, 1, noJitter);
  leave(breaker, old[11] ?? -1, failed, 999, noJitter);
  assert.equal(enter(breaker, 999).kind, 'open');
  assert.equal(enterAll(breaker, 1_000).length, 1);
});

test('Retry-After opens the breaker at once, with jitter added', () => {
  const breaker = closedBreaker();
  const inProgress = Array.from({ length: 9 }, () => go(breaker, 0));
  leave(breaker, inProgress[0] ?? -1, { kind: 'failed', retryAfterMs: 7_000 }, 0, 1);
  assert.deepEqual(enter(breaker, 0), { kind: 'open', leftMs: 7_700 });
  assert.equal(enterAll(breaker, 7_700).length, 4);
});

test('a silent probe is followed by another one every 30 seconds', () => {
  const breaker = opened();
  const probe = go(breaker, 1_000);
  assert.equal(enter(breaker, 30_999).kind, 'full');
  const second = go(breaker, 31_000);
  assert.equal(enter(breaker, 60_999).kind, 'full');
  // The first probe is still in progress when the second one is answered, which starts the recovery.
  leave(breaker, second, answered, 61_000, noJitter);
  assert.equal(enterAll(breaker, 61_000).length, 1);
  leave(breaker, probe, answered, 61_000, noJitter);
});

test('a long Retry-After is respected', () => {
  const breaker = closedBreaker();
  leave(breaker, go(breaker, 0), { kind: 'failed', retryAfterMs: 3_600_000 }, 0, 0);
  const entry = enter(breaker, 0);
  assert.equal(entry.kind === 'open' && entry.leftMs, 3_600_000);
  go(breaker, 3_600_000);
});

test('while open, one call per second is admitted if its deadline comes first', () => {
  const breaker = opened();
  assert.equal(enter(breaker, 0, 1_000).kind, 'open');
  assert.equal(enter(breaker, 0, 999).kind, 'go');
  leave(breaker, breaker.epoch, { kind: 'failed', retryAfterMs: 9_000 }, 0, 0);
  assert.equal(enter(breaker, 999, 2_000).kind, 'open');
  assert.equal(enter(breaker, 1_000, 2_000).kind, 'go');
});

test('an answer to a call that was admitted while open ends the pause', () => {
  const breaker = opened();
  assert.equal(enter(breaker, 0, 500).kind, 'go');
  leave(breaker, breaker.epoch, answered, 100, noJitter);
  assert.equal(enterAll(breaker, 100).length, 2);
});
