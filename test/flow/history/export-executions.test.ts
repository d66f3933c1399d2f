import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase } from '../../../harness/database.ts';
import { type MadeHistory, makeHistory, wholeHistory } from '../../../harness/history.ts';
import { exportExecutions } from '../../../src/flow/history/export-executions.ts';
import { openDatabase } from '../../../src/store/connection/database.ts';
import type { ExecutionDetailRow } from '../../../src/store/execution/executions.ts';
import { matchesFilter } from '../../../src/store/history/history-filter.ts';

const database = await createTestDatabase();
const { connection } = database;
const db = openDatabase({ connection, poolMax: 2, onError: () => {} });
let made: MadeHistory;
before(async () => {
  made = await makeHistory(db, 12_000);
});
after(async () => {
  await db.destroy();
  await database.drop();
});

const minute = 60_000;
const words = 'tide';

async function batchesOf(question: object): Promise<ExecutionDetailRow[][]> {
  const asked = { ...wholeHistory(made.agentIds), msMax: minute, ...question };
  return Array.fromAsync(exportExecutions(db, asked));
}

test('batch by batch all that matches, common and rare, counted and read, in the order of the list', async () => {
  const read = { latencyMsMin: null, latencyMsMax: null, costUsdMin: null, costUsdMax: null };
  const questions = [
    {},
    { status: 'unauthorized' as const },
    { status: 'canceled' as const, model: made.models[1] ?? null },
    { errorCode: 'PROVIDER_ERROR' as const },
    { contents: { ...read, variables: [{ name: 'customer', value: 'c7' }], words } },
  ];
  for (const one of questions) {
    const question = { ...wholeHistory(made.agentIds), ...one };
    const { rows } = await sql<{ id: string }>`
      select e.id from executions e
      where e.agent_id = any(${made.agentIds}) and e.status <> 'processing' and ${matchesFilter(question)}
      order by e.id desc`.execute(db);
    assert.ok(rows.length > 0);
    assert.deepEqual(
      (await batchesOf(one)).flat().map(({ id }) => id),
      rows.map(({ id }) => id),
    );
  }
});

test('no batch holds much more than it may, whatever came before it', async () => {
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

test('a snapshot is given back by who ends early, by who is too slow, and by an error', async () => {
  const question = { ...wholeHistory(made.agentIds), msMax: minute };
  for await (const rows of exportExecutions(db, question)) {
    assert.ok(rows.length > 0);
    break;
  }
  const slow = exportExecutions(db, { ...question, msMax: -1 });
  await assert.rejects(Array.fromAsync(slow), /ExportTooSlow|Error/);
  const broken = { ...question, agentIds: ['no uuid'] };
  await assert.rejects(Array.fromAsync(exportExecutions(db, broken)), /uuid/);
  const { rows } = await sql<{ idle: number }>`
    select count(*)::int as idle from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`.execute(db);
  assert.equal(rows[0]?.idle, 0);
});
