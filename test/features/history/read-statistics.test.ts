import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestDatabase } from '../../../harness/database.ts';
import { insertStatistics, tally } from '../../../harness/statistics.ts';
import { levelMs } from '../../../src/core/history/statistics.ts';
import { uuid7 } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  readStatistics,
  type StatisticsRead,
} from '../../../src/features/history/statements/read-statistics.ts';

const { db, close } = await openTestDatabase(2);
after(close);

const fromMs = Date.UTC(2026, 2, 4);

/** Groups two hours of one agent by status. */
function requestFor(agentId: string, more: Partial<StatisticsRead> = {}): StatisticsRead {
  const toMs = fromMs + 2 * levelMs.hour;
  return {
    of: { agentId },
    playground: false,
    by: ['status'],
    byLabel: null,
    bounds: [fromMs, fromMs + levelMs.hour, toMs],
    spans: [{ level: 'hour', fromMs, toMs }],
    table: 'statistics',
    rowsMax: 100,
    groupsMax: 100,
    ...more,
  };
}

test('the maximum number of rows and groups is returned, one more is rejected', async () => {
  const agentId = uuid7(fromMs);
  await insertStatistics(db, [
    tally({ agentId, executedAtMs: fromMs }),
    tally({ agentId, executedAtMs: fromMs, source: 'workflow' }),
    tally({ agentId, executedAtMs: fromMs + levelMs.hour }),
  ]);
  const groups = await readStatistics(db, requestFor(agentId, { rowsMax: 3, groupsMax: 2 }));
  assert.ok(typeof groups !== 'string');
  assert.deepEqual(
    groups.map(({ intervalIndex, status, occurred }) => [intervalIndex, status, occurred]),
    [
      [0, 'success', 2],
      [1, 'success', 1],
    ],
  );
  assert.equal(await readStatistics(db, requestFor(agentId, { rowsMax: 2 })), 'too many rows');
  assert.equal(await readStatistics(db, requestFor(agentId, { groupsMax: 1 })), 'too many groups');
});

test('histograms are added up in every array notation of PostgreSQL', async () => {
  const agentId = uuid7(fromMs);
  const sources = ['dashboard', 'api', 'workflow'];
  for (const [index, latency] of ['{}', '[4:6]={7,NULL,12}', '{1,0,0,3}'].entries()) {
    await sql`
      insert into statistics (agent_id, level, bucket, status, source, occurred, recorded, input_tokens,
        output_tokens, cost_usd, latency)
      values (${agentId}, 'hour', to_timestamp(${fromMs / 1000}), 'success', ${sources[index]}, 1, 1, 0, 0, 0,
        ${latency})`.execute(db);
  }
  const groups = await readStatistics(db, requestFor(agentId));
  assert.ok(typeof groups !== 'string');
  assert.deepEqual(groups[0]?.latency, [1, 0, 0, 10, 0, 12]);
});

test('costs are added up exactly', async () => {
  const agentId = uuid7(fromMs);
  const costs = ['0.1', '0.2', '0.0000000001'];
  await insertStatistics(
    db,
    costs.map((costUsd) => tally({ agentId, executedAtMs: fromMs, costUsd })),
  );
  const groups = await readStatistics(db, requestFor(agentId));
  assert.ok(typeof groups !== 'string');
  assert.equal(groups[0]?.costUsd, '0.3000000001');
});
