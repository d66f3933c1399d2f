import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase } from '../../harness/database.ts';
import { latencyBin } from '../../src/core/history/statistics.ts';
import { openDatabase } from '../../src/store/connection/database.ts';

const database = await createTestDatabase();
const { connection } = database;
const db = openDatabase({ connection, poolMax: 1, onError: () => {} });
after(async () => {
  await db.destroy();
  await database.drop();
});

test('the database and the program assign every latency to the same bin', async () => {
  const edges = Array.from({ length: 96 }, (_, bin) => Math.round(2 ** (bin / 4)));
  const all = [...new Set(edges.flatMap((ms) => [ms - 1, ms, ms + 1]))].filter((ms) => ms >= 0);
  const { rows } = await sql<{ ms: number; bin: number }>`
    select ms, latency_bin(ms) as bin from unnest(${all}::int[]) as ms`.execute(db);
  assert.deepEqual(
    rows,
    all.map((ms) => ({ ms, bin: latencyBin(ms) })),
  );
});
