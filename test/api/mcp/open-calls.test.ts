import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenCalls } from '../../../src/api/routes/mcp/open-calls.ts';

const client = { keyId: 'a', address: '127.0.0.1', userAgent: 'test' };

test('opens as many calls of a key as the limit, and again after one has ended', () => {
  const calls = createOpenCalls(() => {});
  const open = Array.from({ length: 1_000 }, (_, id) => calls.acquire(client, id));
  assert.ok(open.every((call) => call !== null));
  assert.equal(calls.acquire(client, 'more'), null);
  assert.notEqual(calls.acquire({ ...client, keyId: 'b' }, 'more'), null);
  open[0]?.release();
  assert.notEqual(calls.acquire(client, 'more'), null);
});

test('asks the other processes only for a call that it does not have', () => {
  const published: string[] = [];
  const here = createOpenCalls((names) => published.push(...names));
  const there = createOpenCalls(() => {});
  const [own, foreign] = [here.acquire(client, 1), there.acquire(client, 2)];
  here.cancel(client, 1);
  assert.equal(own?.canceled.aborted, true);
  assert.deepEqual(published, []);
  here.cancel(client, 2);
  there.cancelLocal(published);
  assert.equal(foreign?.canceled.aborted, true);
  assert.match(published[0] ?? '', /^[0-9a-f]{32}$/);
});

test('tells the ids 1 and "1" apart', () => {
  const calls = createOpenCalls(() => {});
  const [number, text] = [calls.acquire(client, 1), calls.acquire(client, '1')];
  calls.cancel(client, '1');
  assert.equal(number?.canceled.aborted, false);
  assert.equal(text?.canceled.aborted, true);
});
