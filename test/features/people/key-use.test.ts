import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashKey } from '../../../src/core/people/key.ts';
import { KeyUse } from '../../../src/features/people/verbs/key-use.ts';

const [a, b, c] = ['a', 'b', 'c'].map(hashKey) as [string, string, string];

function noting(fail: (call: number) => boolean = () => false) {
  const touched: (readonly string[])[] = [];
  const errors: unknown[] = [];
  const keyUse = new KeyUse({
    touch: async (hashes) => {
      touched.push(hashes);
      if (fail(touched.length)) throw new Error('the database is unavailable');
    },
    onError: (error) => void errors.push(error),
  });
  return { keyUse, touched, errors };
}

test('many uses of a key cause one write per minute', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { keyUse, touched } = noting();
  for (const hash of [a, b, a, hashKey('a')]) keyUse.used(hash);
  assert.deepEqual(touched, []);
  t.mock.timers.tick(59_999);
  assert.deepEqual(touched, []);
  t.mock.timers.tick(1);
  await keyUse.flush();
  assert.deepEqual(touched, [[a, b]]);
  t.mock.timers.tick(60_000);
  keyUse.used(c);
  await keyUse.close();
  t.mock.timers.tick(600_000);
  assert.deepEqual(touched, [[a, b], [c]]);
});

test('without uses nothing is written', async () => {
  const { keyUse, touched } = noting();
  await keyUse.flush();
  await keyUse.close();
  assert.deepEqual(touched, []);
});

test('a failed write is reported, and the next one is sent', async () => {
  const { keyUse, touched, errors } = noting((call) => call === 1);
  keyUse.used(a);
  await keyUse.flush();
  keyUse.used(b);
  await keyUse.close();
  assert.deepEqual(touched, [[a], [b]]);
  assert.equal(errors.length, 1);
});

test('more than ten thousand pending keys are written early', async () => {
  const { keyUse, touched } = noting();
  for (let i = 0; i < 25_000; i++) keyUse.used(hashKey(String(i)));
  await keyUse.close();
  assert.deepEqual(
    touched.map((hashes) => hashes.length),
    [10_000, 10_000, 5_000],
  );
});
