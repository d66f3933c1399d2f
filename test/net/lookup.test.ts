import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { test } from 'node:test';
import { resolvesTo } from '../../harness/resolves-to.ts';
import { guardedLookup } from '../../src/net/outbound.ts';
import { OutboundFailure } from '../../src/net/outbound-failure.ts';

/** DNS lookups of provider names. */

test('each connection resolves the name again and uses only that result', async () => {
  const answers = [resolvesTo('8.8.8.8'), resolvesTo('127.0.0.1')];
  const lookup = guardedLookup(async (name) => (await answers.shift()?.(name)) ?? []);
  assert.deepEqual(await look(lookup, true), [{ address: '8.8.8.8', family: 4 }]);
  await assert.rejects(look(lookup, true), OutboundFailure);
});

test('concurrent lookups of a name share one query', async () => {
  let queries = 0;
  const response = Promise.withResolvers<void>();
  const lookup = guardedLookup(async () => {
    queries++;
    await response.promise;
    return resolvesTo('8.8.8.8')('x.example.com');
  });
  const found = Promise.all([look(lookup, false), look(lookup, false), look(lookup, false)]);
  response.resolve();
  assert.deepEqual(await found, ['8.8.8.8', '8.8.8.8', '8.8.8.8']);
  assert.equal(queries, 1);
  await look(lookup, false);
  assert.equal(queries, 2);
});

test('returns one address if one is requested', async () => {
  assert.deepEqual(await look(guardedLookup(resolvesTo('8.8.4.4', '8.8.8.8')), false), '8.8.4.4');
  await assert.rejects(look(guardedLookup(resolvesTo('8.8.4.4', '::1')), false), OutboundFailure);
});

function look(lookup: LookupFunction, all: boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    lookup('x.example.com', { all }, (error, found) => (error ? reject(error) : resolve(found)));
  });
}
