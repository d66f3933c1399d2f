import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../harness/database.ts';
import { firstHundred, makeHistory, type RandomHistory } from '../../../harness/history.ts';
import type { Execution } from '../../../src/core/execution/execution-fields.ts';
import { sql } from '../../../src/db/sql.ts';
import { matchesFilter } from '../../../src/features/history/statements/history-filter.ts';
import { exportExecutions } from '../../../src/features/history/verbs/export-executions.ts';

const { db, close } = await openTestDatabase(2);
let made: RandomHistory;
before(async () => {
  made = await makeHistory(db, 12_000);
});
after(close);

const minute = 60_000;
const words = 'tide';

async function batchesOf(request: object): Promise<Execution[][]> {
  const filter = { ...firstHundred(made.agentIds), msMax: minute, ...request };
  return Array.fromAsync(exportExecutions(db, filter));
}

test('an export returns all matches in list order, for common and rare filters', async () => {
  const read = {
    latencyMsMin: null,
    latencyMsMax: null,
    costUsdMin: null,
    costUsdMax: null,
    providerRequestId: null,
    labels: [],
  };
  const questions = [
    {},
    { status: ['unauthorized' as const] },
    { status: ['canceled' as const, 'failed' as const], model: made.models.slice(1, 2) },
    { errorCode: ['PROVIDER_ERROR' as const] },
    { contents: { ...read, variables: [{ name: 'customer', value: 'c7' }], words } },
  ];
  for (const one of questions) {
    const request = { ...firstHundred(made.agentIds), ...one };
    const { rows } = await sql<{ id: string }>`
      select e.id from executions e
      where e.agent_id = any(${made.agentIds}) and ${matchesFilter(request)}
      order by e.id desc`.execute(db);
    assert.ok(rows.length > 0);
    assert.deepEqual(
      (await batchesOf(one)).flat().map(({ id }) => id),
      rows.map(({ id }) => id),
    );
  }
});

test('no batch exceeds its size by more than one record', async () => {
  const large = 300_000;
  await sql`
    update executions set output = repeat(md5(id::text), ${large / 32})
    where status = 'success' and id in (
      select id from executions where status = 'success' order by id offset 500 limit 60)`.execute(
    db,
  );
  const sizes = (await batchesOf({})).map((rows) =>
    rows.reduce((sum, { output }) => sum + (output?.length ?? 0), 0),
  );
  assert.ok(Math.max(...sizes) >= large);
  assert.ok(Math.max(...sizes) <= 1_000_000 + large);
});

test('the snapshot is closed after an early end, a timeout and an error', async () => {
  const request = { ...firstHundred(made.agentIds), msMax: minute };
  for await (const rows of exportExecutions(db, request)) {
    assert.ok(rows.length > 0);
    break;
  }
  const slow = exportExecutions(db, { ...request, msMax: -1 });
  await assert.rejects(Array.fromAsync(slow), /ExportTooSlow|Error/);
  const broken = { ...request, agentIds: ['no uuid'] };
  await assert.rejects(Array.fromAsync(exportExecutions(db, broken)), /uuid/);
  const { rows } = await sql<{ idle: number }>`
    select count(*)::int as idle from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`.execute(db);
  assert.equal(rows[0]?.idle, 0);
});
