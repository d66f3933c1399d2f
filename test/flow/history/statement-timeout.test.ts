import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type KyselyPlugin, sql } from 'kysely';
import { openTestDatabase } from '../../../harness/database.ts';
import { firstHundred, makeHistory, type RandomHistory } from '../../../harness/history.ts';
import { exportExecutions } from '../../../src/flow/history/export-executions.ts';
import { type ListRequest, listExecutions } from '../../../src/flow/history/list-executions.ts';
import type { Db } from '../../../src/store/connection/database.ts';
import { matchesFilter } from '../../../src/store/history/history-filter.ts';

/** Searches that exceed the statement timeout. */

const { db, close } = await openTestDatabase(2);
const count = 6_000;
let made: RandomHistory;
let request: ListRequest;
before(async () => {
  made = await makeHistory(db, count);
  const none = { latencyMsMin: null, latencyMsMax: null, costUsdMin: null, costUsdMax: null };
  const contents = { ...none, variables: [], words: 'tide' };
  request = { ...firstHundred(made.agentIds), contents, recordsReadMax: 2 * count };
});
after(close);

/** Searches for words time out where `timesOut` says so. */
function timingOut(timesOut: (scan: number) => boolean): { db: Db; scans: () => number } {
  let scans = 0;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (!JSON.stringify(node).includes('searched.text') || !timesOut(++scans)) return node;
      return sql`do $$ begin raise exception using errcode = '57014'; end $$`.toOperationNode();
    },
    transformResult: async ({ result }) => result,
  };
  return { db: db.withPlugin(plugin), scans: () => scans };
}

const statementTimeout = { code: '57014' };

test('a list reports a search that is too broad, for counting and reading', async () => {
  const tooBroad = { code: 'INVALID_REQUEST', message: /too long.*Narrow the search with dates/ };
  for (const at of [1, 2]) {
    const slow = timingOut((scan) => scan === at);
    await assert.rejects(listExecutions(slow.db, request), tooBroad);
  }
  assert.ok((await listExecutions(timingOut(() => false).db, request)).total > 0);
});

test('an export scans fewer records after a timeout, and returns all matches of its snapshot', async () => {
  const { rows: expected } = await sql<{ id: string }>`
    select e.id from executions e
    where e.agent_id = any(${made.agentIds}) and e.status <> 'processing' and ${matchesFilter(request)}
    order by e.id desc`.execute(db);
  const failures = 6;
  const slow = timingOut((scan) => scan <= failures);
  const found: string[] = [];
  for await (const rows of exportExecutions(slow.db, { ...request, msMax: 600_000 })) {
    if (found.length === 0) await sql`update executions set output = null`.execute(db);
    found.push(...rows.map(({ id }) => id));
  }
  assert.deepEqual(
    found,
    expected.map(({ id }) => id),
  );
  // The first scan, and one per half.
  assert.ok(slow.scans() - failures >= 2 ** failures);
});

test('an export fails if a single record exceeds the statement timeout', async () => {
  const slow = timingOut(() => true);
  const batches = exportExecutions(slow.db, { ...request, msMax: 600_000 });
  await assert.rejects(Array.fromAsync(batches), statementTimeout);
  assert.ok(slow.scans() <= 1 + Math.log2(count));
});
