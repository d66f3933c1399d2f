import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { openTestDatabase } from '../../../harness/database.ts';
import { firstHundred, makeHistory, type RandomHistory } from '../../../harness/history.ts';
import { historyRequests } from '../../../harness/history-requests.ts';
import { everything } from '../../../src/core/history/history-range.ts';
import { uuidFloor } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import { matchesFilter } from '../../../src/features/history/statements/history-filter.ts';
import { indexChanges } from '../../../src/features/history/statements/search-index.ts';
import type { ListRequest } from '../../../src/features/history/verbs/history-page.ts';
import { listExecutions } from '../../../src/features/history/verbs/list-executions.ts';
import { searchExecutions } from '../../../src/features/history/verbs/search-executions.ts';

const { db, close } = await openTestDatabase(2);
let made: RandomHistory;
before(async () => {
  made = await makeHistory(db, 30_000, { seed: Date.now() % 1_000 });
  // The search index has most of the records; the others are still among the changes.
  for (let round = 0; round < 20; round++) assert.ok(await indexChanges(db, 1_000));
});
after(close);

const runs = 150;

test('pages and totals equal those of a plain count and offset, for random filters', async () => {
  await fc.assert(
    fc.asyncProperty(historyRequests(made), (request) => sameAsPlain(request)),
    { numRuns: runs },
  );
});

test('the same with minutes missing in some hours, completely or partly', async () => {
  await sql`
    delete from statistics where level = 'minute'
      and (extract(hour from bucket)::int % 2 = 0
        or (extract(hour from bucket)::int in (3, 17) and extract(minute from bucket)::int % 7 = 0))`.execute(
    db,
  );
  await fc.assert(
    fc.asyncProperty(historyRequests(made), (request) => sameAsPlain(request)),
    { numRuns: runs },
  );
});

test('the same for a range from half past to half past, with one half rolled up', async () => {
  const [hourMs, halfMs] = [3_600_000, 1_800_000];
  for (let hour = 0; hour < 100; hour++) {
    const fromMs = made.fromMs + hour * hourMs + halfMs;
    const range = { fromId: uuidFloor(fromMs), toId: uuidFloor(fromMs + hourMs) };
    await sameAsPlain({ ...firstHundred(made.agentIds), range });
  }
});

test('a search without words reads nothing, however long the history', async () => {
  const contents = { ...anyContents, variables: [], words: '"" - ...' };
  const page = await listExecutions(db, { ...firstHundred(made.agentIds), contents });
  const exact = { totalIsLowerBound: false, continuesAfter: null };
  assert.deepEqual(page, { rows: [], total: 0, ...exact });
});

test('records before the floor are hidden, even if the tables still contain them', async () => {
  await sql`update history_floor set at = '2026-10-01T00:00:00Z'`.execute(db);
  await fc.assert(
    fc.asyncProperty(historyRequests(made), (request) => sameAsPlain(request)),
    { numRuns: runs },
  );
});

test('short pages together hold what one page would, and their totals are lower bounds', async () => {
  const hurried = { pageMs: 0, countMs: 0, countedMax: 0, batchSize: 300, sortedMax: 0 };
  const searches = historyRequests(made).filter(({ contents }) => contents !== null);
  await fc.assert(
    fc.asyncProperty(searches, async (request) => {
      const { rows: expected, total } = await searchExecutions(db, request, patient);
      const found: string[] = [];
      let { after: cursor, offset } = request;
      for (;;) {
        const limit = request.limit - found.length;
        const page = await searchExecutions(
          db,
          { ...request, after: cursor, offset, limit },
          hurried,
        );
        found.push(...page.rows.map(({ id }) => id));
        assert.ok(page.total <= total && (page.totalIsLowerBound || page.total === total));
        if (page.continuesAfter === null) break;
        assert.ok(cursor === null || page.continuesAfter.id < cursor, 'a page makes progress');
        ({ id: cursor, skip: offset } = page.continuesAfter);
      }
      assert.deepEqual(
        found,
        expected.map(({ id }) => id),
      );
    }),
    { numRuns: 30 },
  );
});

test('searches that ask the index find what a plain scan does', async () => {
  const searches = fc
    .tuple(historyRequests(made), fc.constantFrom('tide', 'water -low', '"tide at" or c7', null))
    .map(([request, words]): ListRequest => {
      const variables = words === null ? [{ name: 'number', value: '3' }] : [];
      const range = { ...everything, toId: request.range.toId };
      const contents = { ...anyContents, words, variables };
      return { ...request, range, contents, status: null, promptVersionId: null, errorCode: null };
    });
  await fc.assert(
    fc.asyncProperty(searches, (request) => sameAsPlain(request, { ...patient, batchSize: 50 })),
    { numRuns: runs },
  );
});

const anyContents = {
  ...{ latencyMsMin: null, latencyMsMax: null, costUsdMin: null, costUsdMax: null, labels: [] },
  providerRequestId: null,
};

const patient = {
  ...{ pageMs: Number.POSITIVE_INFINITY, countMs: Number.POSITIVE_INFINITY },
  ...{ countedMax: 0, batchSize: 5_000, sortedMax: 0 },
};

async function sameAsPlain(request: ListRequest, pace = patient): Promise<void> {
  const { range, agentIds, includeProcessing, limit, offset, after: cursor } = request;
  const from = sql`
    from ${includeProcessing ? sql`all_executions` : sql`executions`} e where e.agent_id = any(${agentIds}::uuid[])
      and e.id >= ${range.fromId}::uuid and e.id < ${range.toId}::uuid
      and (e.status = 'processing' or e.id >= (select id_floor(at) from history_floor))
      and ${matchesFilter(request)}`;
  const { rows: totals } = await sql<{ total: number }>`select count(*) as total ${from}`.execute(
    db,
  );
  const { rows: expected } = await sql<{ id: string }>`
    select e.id ${from} ${cursor === null ? sql`` : sql`and e.id < ${cursor}::uuid`}
    order by e.id desc offset ${offset} limit ${limit}`.execute(db);
  const { rows, total } = await (request.contents === null
    ? listExecutions(db, request)
    : searchExecutions(db, request, pace));
  assert.equal(total, totals[0]?.total);
  assert.deepEqual(
    rows.map((row) => row.id),
    expected.map((row) => row.id),
  );
}
