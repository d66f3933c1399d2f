import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, beforeEach, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { openTestDatabase } from '../../../harness/database.ts';
import { firstHundred } from '../../../harness/history.ts';
import { addWorkspace } from '../../../harness/people.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { addMonth, addRecords, dayMs } from '../../../harness/records.ts';
import { everything, type IdRange } from '../../../src/core/history/history-range.ts';
import { sql } from '../../../src/db/sql.ts';
import { removeBodies } from '../../../src/features/history/statements/bodies.ts';
import { deleteRecords } from '../../../src/features/history/statements/deletion.ts';
import {
  type Candidates,
  findCandidates,
  readSearchLag,
  tokenSetsOf,
} from '../../../src/features/history/statements/search-index.ts';
import { indexRound } from '../../../src/features/history/verbs/index-round.ts';
import { searchExecutions } from '../../../src/features/history/verbs/search-executions.ts';

/** What the search index holds after each change of the history. */

const { connection, db, close } = await openTestDatabase();
const pipelines = testPipelines(connection);
after(async () => {
  await pipelines.close();
  await close();
});

const { signal } = new AbortController();
const round = (isOn = true) => indexRound({ db, signal, isOn, rest: 0 });
const nowMs = Date.now();
let one: { workspaceId: string; agentId: string };

beforeEach(async () => {
  await sql`truncate executions, statistics, breakdown, search_groups, search_changes`.execute(db);
  const owned = await addWorkspace(db);
  const { id } = await addAgent({ db, ...owned });
  one = { ...owned, agentId: id };
});

async function indexedIds(): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select unnest(ids) as id from search_groups order by id`.execute(db);
  return rows.map(({ id }) => id);
}

function searchFor(words: string) {
  const bounds = { latencyMsMin: null, latencyMsMax: null, costUsdMin: null, costUsdMax: null };
  const contents = { ...bounds, providerRequestId: null, labels: [], words, variables: [] };
  return { ...firstHundred([one.agentId]), contents };
}

/** Searches for a customer. Only the index can find more than the very newest records. */
async function search(customer: string): Promise<string[]> {
  const pace = { pageMs: 60_000, countMs: 60_000, countedMax: 0, batchSize: 1, sortedMax: 0 };
  const { rows } = await searchExecutions(db, searchFor(customer), pace);
  return rows.map(({ id }) => id);
}

/** What the index finds in a range. */
function find(
  words: string,
  { range = everything, count = 1_000, isFrequent = false } = {},
): Promise<Candidates> {
  const request = searchFor(words);
  const sets = tokenSetsOf(request);
  assert.ok(sets);
  return db.transaction((trx) => findCandidates(trx, request, sets, { range, count, isFrequent }));
}

const record = (customer: string, at = nowMs) => ({
  ...one,
  atMs: at,
  variables: JSON.stringify({ customer }),
});

test('a round indexes all changes, and leaves none', async () => {
  const ids = await addRecords(
    db,
    Array.from({ length: 70 }, (_, n) => record(`name${n}`, nowMs - n)),
  );
  assert.ok((await readSearchLag(db)) > 0);
  assert.deepEqual(await search('name42'), [ids[42]]);
  await round();
  assert.deepEqual(await indexedIds(), ids.toSorted());
  assert.equal(await readSearchLag(db), 0);
  assert.deepEqual(await search('name42'), [ids[42]]);
});

test('a deleted record leaves the index, the others of its group stay', async () => {
  const [first = '', second = '', third = ''] = await addRecords(db, [
    record('ada', nowMs - 3),
    record('bob', nowMs - 2),
    record('cyd', nowMs - 1),
  ]);
  await round();
  await deleteRecords(pipelines, { ids: [second] });
  assert.deepEqual(await search('bob'), []);
  await round();
  assert.deepEqual(await indexedIds(), [first, third]);
  assert.deepEqual(await search('ada'), [first]);
});

test('a record whose bodies were removed leaves the index', async () => {
  const [old = '', young = ''] = await addRecords(db, [
    record('ada', nowMs - 10 * dayMs),
    record('ada', nowMs),
  ]);
  await round();
  await sql`update agents set bodies_days = 5 where id = ${one.agentId}`.execute(db);
  await removeBodies(db, { agentId: one.agentId, limit: 100 });
  await round();
  assert.deepEqual(await indexedIds(), [young]);
  assert.notEqual(old, young);
});

test('off, the index is emptied and searches read the records; on again, it covers all of them', async () => {
  const ids = await addRecords(
    db,
    Array.from({ length: 40 }, (_, n) => record(`name${n}`, nowMs - n)),
  );
  await round();
  await round(false);
  assert.deepEqual(await indexedIds(), []);
  const more = await addRecords(db, [record('late', nowMs + 1)]);
  await round(false);
  assert.equal(await readSearchLag(db), 0);
  assert.deepEqual(await search('name39'), [ids[39]]);
  await round();
  assert.deepEqual(await indexedIds(), [...ids, ...more].toSorted());
  assert.deepEqual(await search('name39'), [ids[39]]);
});

test('records below the floor leave the index', async () => {
  const oldMs = nowMs - 100 * dayMs;
  await addMonth(db, oldMs);
  const [, young = ''] = await addRecords(db, [record('ada', oldMs), record('bob')]);
  await round();
  await sql`update history_floor set at = ${new Date(nowMs - dayMs)}`.execute(db);
  try {
    await round();
    assert.deepEqual(await indexedIds(), [young]);
  } finally {
    await sql`update history_floor set at = 'epoch'`.execute(db);
  }
});

test('records with long texts are indexed in several transactions', async () => {
  // Hexadecimal, so that no random word is one of the names.
  const long = () => randomBytes(700_000).toString('hex').replaceAll('0', ' ');
  const ids = await addRecords(
    db,
    ['ada', 'bob', 'cyd'].map((name) => record(`${name} ${long()}`)),
  );
  await round();
  assert.deepEqual(await indexedIds(), ids.toSorted());
  const { rows } = await sql`select distinct xmin from search_groups`.execute(db);
  assert.equal(rows.length, 2);
  assert.deepEqual(await search('bob'), [ids[1]]);
});

test('while another process writes the index, a round does nothing', async () => {
  const ids = await addRecords(db, [record('ada')]);
  await db.transaction(async (trx) => {
    await sql`select pg_advisory_xact_lock(7315202641)`.execute(trx);
    await round();
    assert.deepEqual(await indexedIds(), []);
  });
  await round();
  assert.deepEqual(await indexedIds(), ids);
});

test('the index finds only records that have all words, before and after an upgrade', async () => {
  const [first = '', second = '', third = '', fourth = ''] = await addRecords(db, [
    record('ada bob', nowMs - 4),
    record('ada cyd', nowMs - 3),
    record('bob cyd', nowMs - 2),
    record('dan', nowMs - 1),
  ]);
  await round();
  assert.deepEqual((await find('ada bob')).ids, [first]);
  assert.deepEqual((await find('ada -bob')).ids, [second, first]);
  assert.deepEqual((await find('"ada bob" or "cyd bob" or dan')).ids, [fourth, third, first]);
  // As an earlier version wrote it: any record of the group may match.
  await sql`update search_groups set masks = null`.execute(db);
  assert.deepEqual((await find('ada bob')).ids, [fourth, third, second, first]);
  assert.deepEqual(await search('"ada bob"'), [first]);
});

for (const isFrequent of [false, true]) {
  const how = isFrequent ? 'by age' : 'by tokens';
  test(`the index is read from the newest groups on, ${how}, each record once`, async () => {
    // The second round writes groups between those of the first.
    const ids: string[] = [];
    for (const offset of [0, 1]) {
      const names = Array.from({ length: 200 }, (_, n) => (n % 20 === 0 ? 'ada' : 'bob'));
      const made = await addRecords(
        db,
        names.map((name, n) => record(name, nowMs - 1_000 + 2 * n + offset)),
      );
      ids.push(...made.filter((_, n) => names[n] === 'ada'));
      await round();
    }
    const found: string[] = [];
    const pages: number[] = [];
    let range: IdRange = everything;
    for (;;) {
      const { ids: next, fromId } = await find('ada', { range, count: 4, isFrequent });
      found.push(...next);
      pages.push(next.length);
      if (fromId === range.fromId) break;
      assert.ok(fromId < range.toId);
      range = { ...range, toId: fromId };
    }
    assert.deepEqual(found, ids.toSorted().toReversed());
    assert.ok(Math.max(...pages) <= 4, pages.join());
    assert.ok(pages.length > 5, pages.join());
  });
}

test('the changes are read as far as a page goes', async () => {
  const ids = await addRecords(
    db,
    Array.from({ length: 20 }, (_, n) => record('ada', nowMs + n)),
  );
  const { ids: found, fromId } = await find('ada', { count: 5 });
  assert.deepEqual(found, ids.toReversed().slice(0, 5));
  assert.equal(fromId, found.at(-1));
});
