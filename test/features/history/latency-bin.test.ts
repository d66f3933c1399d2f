import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestDatabase } from '../../../harness/database.ts';
import { latencyBin } from '../../../src/core/history/statistics.ts';
import { sql } from '../../../src/db/sql.ts';

const { db, close } = await openTestDatabase(1);
after(close);

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
