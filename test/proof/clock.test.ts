import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase } from '../../harness/database.ts';
import { shadowClock } from '../../proof/clock.ts';
import { openDatabase } from '../../src/db/database.ts';

const { connection, drop } = await createTestDatabase();
const db = openDatabase({ connection, poolMax: 4, onError: () => {} });
after(async () => {
  await db.destroy();
  await drop();
});

test('concurrent jumps of the clock add up', async () => {
  const clock = await shadowClock({ db, connection });
  const before = await clock.nowMs();
  const leaps = Array.from({ length: 20 }, (_, at) => clock.leap((at + 1) * 60_000));
  const times = await Promise.all(leaps);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.ok((await clock.nowMs()) - before >= 210 * 60_000);
});
