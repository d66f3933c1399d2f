import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { test } from 'node:test';
import type { Resolve } from '../../src/net/guard.ts';
import { guardedLookup } from '../../src/net/outbound.ts';
import { OutboundFailure } from '../../src/net/outbound-failure.ts';

/** How the names of providers are looked up. */

const at =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

test('a name is asked for at each connection, and only that answer is connected to', async () => {
  const answers = [at('8.8.8.8'), at('127.0.0.1')];
  const lookup = guardedLookup(async (name) => (await answers.shift()?.(name)) ?? []);
  assert.deepEqual(await look(lookup, true), [{ address: '8.8.8.8', family: 4 }]);
  await assert.rejects(look(lookup, true), OutboundFailure);
});

test('a name is asked for once by those who ask at the same time', async () => {
  let asked = 0;
  const answer = Promise.withResolvers<void>();
  const lookup = guardedLookup(async () => {
    asked++;
    await answer.promise;
    return at('8.8.8.8')('x.example.com');
  });
  const found = Promise.all([look(lookup, false), look(lookup, false), look(lookup, false)]);
  answer.resolve();
  assert.deepEqual(await found, ['8.8.8.8', '8.8.8.8', '8.8.8.8']);
  assert.equal(asked, 1);
  await look(lookup, false);
  assert.equal(asked, 2);
});

test('one address is given to those who ask for one', async () => {
  assert.deepEqual(await look(guardedLookup(at('8.8.4.4', '8.8.8.8')), false), '8.8.4.4');
  await assert.rejects(look(guardedLookup(at('8.8.4.4', '::1')), false), OutboundFailure);
});

function look(lookup: LookupFunction, all: boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    lookup('x.example.com', { all }, (error, found) => (error ? reject(error) : resolve(found)));
  });
}
