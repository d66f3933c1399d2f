import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type KyselyPlugin, sql } from 'kysely';
import { createTestDatabase } from '../../../harness/database.ts';
import { type MadeHistory, makeHistory, wholeHistory } from '../../../harness/history.ts';
import { exportExecutions } from '../../../src/flow/history/export-executions.ts';
import { type ListRequest, listExecutions } from '../../../src/flow/history/list-executions.ts';
import { type Db, openDatabase } from '../../../src/store/connection/database.ts';
import { matching } from '../../../src/store/history/history-filter.ts';

/** Looks into records that take the database longer than a statement may. */

const database = await createTestDatabase();
const { connection } = database;
const db = openDatabase({ connection, poolMax: 2, onError: () => {} });
const count = 6_000;
let made: MadeHistory;
let question: ListRequest;
before(async () => {
  made = await makeHistory(db, count);
  const none = { latencyMsMin: null, latencyMsMax: null, costUsdMin: null, costUsdMax: null };
  const contents = { ...none, variables: [], words: 'tide' };
  question = { ...wholeHistory(made.agentIds), contents, recordsReadMax: 2 * count };
});
after(async () => {
  await db.destroy();
  await database.drop();
});

/** The database gives up looks for words where that is said, as it does at their time. */
function givingUp(givesUp: (look: number) => boolean): { db: Db; looks: () => number } {
  let looks = 0;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (!JSON.stringify(node).includes('searched.text') || !givesUp(++looks)) return node;
      return sql`do $$ begin raise exception using errcode = '57014'; end $$`.toOperationNode();
    },
    transformResult: async ({ result }) => result,
  };
  return { db: db.withPlugin(plugin), looks: () => looks };
}

const givenUp = { code: '57014' };

test('a list says that its question is too wide, whether the records are counted or read', async () => {
  const tooWide = { code: 'INVALID_REQUEST', message: /too long.*Narrow the search with dates/ };
  for (const at of [1, 2]) {
    const slow = givingUp((look) => look === at);
    await assert.rejects(listExecutions(slow.db, question), tooWide);
  }
  assert.ok((await listExecutions(givingUp(() => false).db, question)).total > 0);
});

test('an export looks at fewer records in one go, and has all that match, from its one snapshot', async () => {
  const { rows: expected } = await sql<{ id: string }>`
    select e.id from executions e
    where e.agent_id = any(${made.agentIds}) and e.status <> 'processing' and ${matching(question)}
    order by e.id desc`.execute(db);
  const failures = 6;
  const slow = givingUp((look) => look <= failures);
  const found: string[] = [];
  for await (const rows of exportExecutions(slow.db, { ...question, msMax: 600_000 })) {
    if (found.length === 0) await sql`update executions set output = null`.execute(db);
    found.push(...rows.map(({ id }) => id));
  }
  assert.deepEqual(
    found,
    expected.map(({ id }) => id),
  );
  // Of all there are, of each half again.
  assert.ok(slow.looks() - failures >= 2 ** failures);
});

test('what not even one record alone can be looked at for is given up', async () => {
  const slow = givingUp(() => true);
  const batches = exportExecutions(slow.db, { ...question, msMax: 600_000 });
  await assert.rejects(Array.fromAsync(batches), givenUp);
  assert.ok(slow.looks() <= 1 + Math.log2(count));
});
