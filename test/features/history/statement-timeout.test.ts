import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../harness/database.ts';
import { firstHundred, makeHistory, type RandomHistory } from '../../../harness/history.ts';
import { interceptedDb } from '../../../harness/silent-db.ts';
import type { Db } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import { matchesFilter } from '../../../src/features/history/statements/history-filter.ts';
import { exportExecutions } from '../../../src/features/history/verbs/export-executions.ts';
import type { ListRequest } from '../../../src/features/history/verbs/history-page.ts';
import { listExecutions } from '../../../src/features/history/verbs/list-executions.ts';

/** Searches that exceed the statement timeout. */

const { db, close } = await openTestDatabase(2);
const count = 6_000;
let made: RandomHistory;
let request: ListRequest;
before(async () => {
  made = await makeHistory(db, count);
  const none = {
    latencyMsMin: null,
    latencyMsMax: null,
    costUsdMin: null,
    costUsdMax: null,
    providerRequestId: null,
    labels: [],
  };
  const contents = { ...none, variables: [], words: 'tide' };
  request = { ...firstHundred(made.agentIds), contents };
});
after(close);

/** Searches for words time out where `timesOut` says so. */
function timingOut(timesOut: (scan: number) => boolean): { db: Db; scans: () => number } {
  let scans = 0;
  const slow = interceptedDb(db, (statement, run) => {
    if (!statement.text.includes('searched.text') || !timesOut(++scans)) return run(statement);
    return run(sql`do $$ begin raise exception using errcode = '57014'; end $$`);
  });
  return { db: slow, scans: () => scans };
}

const statementTimeout = { code: '57014' };

test('a list scans fewer records after a timeout, and finds all matches', async () => {
  const expected = await listExecutions(db, request);
  assert.ok(expected.total > 0);
  const slow = timingOut((scan) => scan <= 2);
  assert.deepEqual(await listExecutions(slow.db, request), expected);
});

test('a list whose smallest batch exceeds the statement timeout is empty, and continues there', async () => {
  const slow = timingOut(() => true);
  const { rows, totalIsLowerBound, continuesAfter } = await listExecutions(slow.db, request);
  assert.deepEqual([rows, totalIsLowerBound, continuesAfter?.skip], [[], true, 0]);
  const rest = { ...request, after: continuesAfter?.id ?? null };
  assert.deepEqual(await listExecutions(db, rest), await listExecutions(db, request));
});

test('a search that nobody waits for ends, and closes its snapshot', async () => {
  const controller = new AbortController();
  const slow = timingOut((scan) => {
    if (scan === 2) controller.abort();
    return true;
  });
  const search = listExecutions(slow.db, { ...request, signal: controller.signal });
  await assert.rejects(search, { name: 'AbortError' });
  assert.equal(slow.scans(), 2);
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`.execute(db);
  assert.equal(rows.length, 0);
});

test('an export scans fewer records after a timeout, and returns all matches of its snapshot', async () => {
  const { rows: expected } = await sql<{ id: string }>`
    select e.id from executions e
    where e.agent_id = any(${made.agentIds}) and ${matchesFilter(request)}
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
