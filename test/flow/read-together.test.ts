import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readTogether } from '../../src/flow/read-together.ts';
import type { Db } from '../../src/store/db.ts';
import type { Named } from '../../src/store/named.ts';
import { findPrices, putPrice } from '../../src/store/prices.ts';
import { startService } from '../harness/service.ts';

const service = await startService();
after(service.close);
const { db, workspaceId } = service;
const amounts = {
  ...{ inputPerMillion: '1', outputPerMillion: '2' },
  ...{ cacheReadPerMillion: null, cacheWritePerMillion: null },
};

test('a thousand that ask at once are told by one statement that names each thing once', async () => {
  const { workspaceId: other } = await service.workspace();
  await putPrice(db, workspaceId, { model: 'mine/one', ...amounts });
  await putPrice(db, other, { model: 'mine/two', ...amounts });
  const statements: (readonly Named[])[] = [];
  const read = readTogether(db, (from: Db, asked) => {
    statements.push(asked);
    return findPrices(from, asked);
  });
  const answers = await Promise.all(
    Array.from({ length: 250 }, () => [
      read(workspaceId, 'mine/one'),
      read(workspaceId, 'mine/two'),
      read(other, 'mine/one'),
      read(other, 'mine/two'),
    ]).flat(),
  );
  assert.deepEqual(answers.slice(0, 4), answers.slice(-4));
  assert.deepEqual(
    answers.slice(0, 4).map((row) => row && [row.workspaceId, row.name]),
    [[workspaceId, 'mine/one'], null, null, [other, 'mine/two']],
  );
  assert.deepEqual(
    statements.map((asked) => asked.length),
    [4],
  );
});

test('who asks while a read is under way is told what stands there after they asked', async () => {
  const underWay = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let reads = 0;
  const read = readTogether(db, async (from: Db, asked) => {
    const rows = await findPrices(from, asked);
    if (reads++ === 0) {
      underWay.resolve();
      await answered.promise;
    }
    return rows;
  });
  const first = read(workspaceId, 'mine/late');
  await underWay.promise;
  await putPrice(db, workspaceId, { model: 'mine/late', ...amounts });
  const second = read(workspaceId, 'mine/late');
  answered.resolve();
  assert.equal(await first, null);
  assert.equal((await second)?.inputPerMillion, '1');
});

test('a database that is away is told to each that asked, and to none that asks afterwards', async () => {
  let away = true;
  const read = readTogether(db, async (from: Db, asked) => {
    if (away) throw new Error('away');
    return findPrices(from, asked);
  });
  const asked = await Promise.allSettled([read(workspaceId, 'a'), read(workspaceId, 'b')]);
  assert.deepEqual(
    asked.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  away = false;
  assert.equal(await read(workspaceId, 'a'), null);
});

test('reads that never answer are given up, and who asks afterwards is answered', async () => {
  let silent = true;
  const read = readTogether(
    db,
    async (from: Db, asked) => (silent ? new Promise<never>(() => {}) : findPrices(from, asked)),
    50,
  );
  const asked = Array.from({ length: 3 }, () => read(workspaceId, 'a'));
  const given = await Promise.allSettled(asked);
  assert.deepEqual(
    given.map((one) => one.status === 'rejected' && one.reason.message),
    Array(3).fill('not read within 50 ms'),
  );
  silent = false;
  // Where even this takes too long, it is asked again.
  let row = await read(workspaceId, 'mine/one').catch(() => null);
  while (!row) row = await read(workspaceId, 'mine/one').catch(() => null);
  assert.equal(row.name, 'mine/one');
});
