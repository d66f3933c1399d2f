import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import type { CallFailure } from '../../src/core/failure.ts';
import { Shares } from '../../src/core/shares.ts';

// Requests that still wait would keep the process of the tests open.
const ended = new AbortController();
after(() => ended.abort());

const waiting = { resource: 'historyReads', waitMs: 60_000 } as const;

/** Waits for slots in order, and returns the workspaces that have got one so far, and how to free theirs. */
function requestsOf(shares: Shares) {
  const granted: string[] = [];
  const releases = new Map<string, (() => void)[]>();
  return {
    granted,
    async wait(...workspaces: string[]) {
      for (const workspace of workspaces) {
        shares.wait(workspace, ended.signal).then(
          (release) => {
            granted.push(workspace);
            releases.set(workspace, [...(releases.get(workspace) ?? []), release]);
          },
          () => {},
        );
      }
      await settled();
    },
    async free(workspace: string) {
      releases.get(workspace)?.pop()?.();
      await settled();
    },
  };
}

function takeAll(shares: Shares, workspace: string): (() => void)[] {
  const releases = [];
  for (let one = shares.tryTake(workspace); one; one = shares.tryTake(workspace))
    releases.push(one);
  return releases;
}

test('a workspace takes all but a tenth, at least all but one', () => {
  for (const [max, ofWorkspace] of [
    [5_000, 4_500],
    [20, 18],
    [8, 7],
    [2, 1],
    [1, 1],
  ] as const) {
    const shares = new Shares({ resource: 'streams', max });
    assert.equal(takeAll(shares, 'a').length, ofWorkspace);
    assert.equal(takeAll(shares, 'b').length, max - ofWorkspace);
  }
});

test('a freed slot is free again, once', () => {
  const shares = new Shares({ resource: 'streams', max: 10 });
  const [first] = takeAll(shares, 'a');
  first?.();
  first?.();
  assert.equal(takeAll(shares, 'a').length, 1);
  assert.equal(shares.used, 9);
});

test('a refusal says what is full, whose slots they are and how many', () => {
  const shares = new Shares({ resource: 'uploads', max: 2 });
  shares.take('a');
  const refusalOf = (workspace: string) => {
    try {
      shares.take(workspace);
    } catch (error) {
      const { code, message, fields } = error as CallFailure;
      return { code, message, fields };
    }
    throw new Error('it was not refused');
  };
  const own = refusalOf('a');
  assert.equal(own.code, 'UNAVAILABLE');
  assert.match(own.message, /its share of the uploads of batches of this process: 1 of 2/);
  const limit = { resource: 'uploads', scope: 'workspace', limit: 1 };
  assert.deepEqual(own.fields, { retryAfter: 5, share: limit });
  shares.take('b');
  const all = refusalOf('c');
  assert.match(all.message, /All 2 uploads of batches/);
  assert.deepEqual(all.fields.share, { resource: 'uploads', scope: 'process', limit: 2 });
  assert.deepEqual(shares.refusals, { workspace: 1, process: 1 });
});

test('after a refusal for want of slots, the next ones go to that workspace', () => {
  const shares = new Shares({ resource: 'streams', max: 10 });
  const ofA = takeAll(shares, 'a');
  shares.take('b');
  assert.equal(shares.tryTake('c'), null);
  ofA.pop()?.();
  assert.equal(shares.tryTake('a'), null, 'c holds fewer and waits');
  assert.notEqual(shares.tryTake('c'), null);
  ofA.pop()?.();
  assert.notEqual(shares.tryTake('a'), null, 'nobody waits any more');
});

test('a workspace that waits keeps no more slots free than it may use at once', () => {
  const shares = new Shares({ resource: 'streams', max: 10 });
  const ofA = takeAll(shares, 'a');
  shares.take('b');
  assert.equal(shares.tryTake('c'), null);
  for (const release of ofA.splice(0, 3)) release();
  assert.equal(takeAll(shares, 'a').length, 2);
});

test('requests wait in order, and a free slot goes to the workspace that holds the fewest', async () => {
  const shares = new Shares({ ...waiting, max: 4 });
  const { granted, wait, free } = requestsOf(shares);
  await wait('a', 'a', 'a', 'a', 'b', 'b', 'c');
  assert.deepEqual(granted, ['a', 'a', 'a', 'b']);
  await free('a');
  assert.deepEqual(granted.slice(4), ['c']);
  await free('a');
  assert.deepEqual(granted.slice(5), ['a'], 'a and b held one each, and a asked first');
  await free('c');
  assert.deepEqual(granted.slice(6), ['b']);
});

test('a request gets no slot after its time, or once its signal is aborted', async () => {
  const shares = new Shares({ ...waiting, max: 1, waitMs: 1 });
  shares.take('a');
  await assert.rejects(shares.wait('b'), { code: 'UNAVAILABLE' });
  const controller = new AbortController();
  const patient = new Shares({ ...waiting, max: 1 });
  const release = patient.take('a');
  const aborted = patient.wait('b', controller.signal);
  controller.abort();
  await assert.rejects(aborted, { name: 'AbortError' });
  await assert.rejects(patient.wait('b', controller.signal), { name: 'AbortError' });
  release();
  await patient.wait('c');
});

test('no slot is kept for a request that waited in vain', async () => {
  const shares = new Shares({ ...waiting, max: 3, waitMs: 1 });
  shares.take('a');
  shares.take('b');
  const release = shares.take('c');
  await assert.rejects(shares.wait('d'), { code: 'UNAVAILABLE' });
  release();
  await shares.wait('a');
});

test('only so many requests of a workspace wait', async () => {
  const shares = new Shares({ ...waiting, max: 1, waitingMax: 1 });
  const { granted, wait, free } = requestsOf(shares);
  await wait('a', 'a', 'b');
  await assert.rejects(shares.wait('a'), { code: 'UNAVAILABLE' });
  await free('a');
  assert.deepEqual(granted, ['a', 'a']);
});

test('a workspace without a slot takes over the oldest one of a workspace with several', () => {
  const shares = new Shares({ resource: 'exports', max: 4 });
  const revoked: string[] = [];
  const take = (workspace: string, name: string) =>
    shares.takeRevocable(workspace, ({ message }) => {
      assert.match(message, /4 exports/);
      revoked.push(name);
    });
  for (const name of ['a1', 'a2', 'a3']) take('a', name);
  take('b', 'b1');
  const release = take('c', 'c1');
  take('d', 'd1');
  assert.deepEqual(revoked, ['a1', 'a2']);
  // Each workspace has its last one.
  assert.throws(() => take('e', 'e1'), { code: 'UNAVAILABLE' });
  release();
  take('e', 'e2');
  assert.deepEqual(revoked, ['a1', 'a2']);
});
