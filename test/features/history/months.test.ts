import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import pg from 'pg';
import { addAgent } from '../../../harness/agents.ts';
import { openTestDatabase } from '../../../harness/database.ts';
import { during } from '../../../harness/locks.ts';
import { addWorkspace } from '../../../harness/people.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { addMonth, addRecords, dayMs, miscounted, remainingIds } from '../../../harness/records.ts';
import { addOpenRun, addWorkflow } from '../../../harness/workflow-runs.ts';
import { sql } from '../../../src/db/sql.ts';
import * as months from '../../../src/features/history/statements/months.ts';
import { writeRetention } from '../../../src/features/history/statements/retention-statements.ts';
import { retentionRound } from '../../../src/features/history/verbs/retention-round.ts';

/** Removal of whole months: first the floor moves, then the partition is dropped, then the buckets are cleared. */

const { connection, db, close } = await openTestDatabase();
const pipelines = testPipelines(connection);
const reader = new pg.Client(connection);
await reader.connect();
after(async () => {
  await reader.end();
  await pipelines.close();
  await close();
});

const { signal } = new AbortController();
const round = () => retentionRound({ db, pipelines, signal, rest: 0 });
/** The middle of a month that ended more than 90 days ago, and of the month before it. */
const now = new Date();
const old = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 5, 15, 12);
const older = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 6, 15, 12);
const young = now.getTime() - 10 * dayMs;

let owned: Awaited<ReturnType<typeof addWorkspace>>;
let names: string[];

beforeEach(async () => {
  await sql`truncate executions, execution_queue, statistics, breakdown, agents cascade`.execute(
    db,
  );
  await sql`update history_floor set at = 'epoch', counted_to = 'epoch'`.execute(db);
  owned = await addWorkspace(db);
  names = [(await addMonth(db, older)).name, (await addMonth(db, old)).name];
});

async function agent(recordsDays: number | null = null) {
  const { id } = await addAgent({ db, ...owned });
  await sql`update agents set records_days = ${recordsDays} where id = ${id}`.execute(db);
  return { ...owned, agentId: id };
}

async function existingPartitions(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relname = any (${names}::text[]) order by relname`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** Counts the records and buckets from the floor on, as the reader sees it. */
async function seen(): Promise<{ records: number; counted: number }> {
  const { rows } = await reader.query<{ records: number; counted: number }>(`
    select (select count(*) from executions where id >= (select id_floor(at) from history_floor))::int as records,
      (select coalesce(sum(recorded), 0) from statistics
       where level = 'day' and bucket >= (select at from history_floor))::int as counted`);
  return rows[0] ?? { records: -1, counted: -1 };
}

test('a month that nobody keeps is dropped, and its buckets contain no records', async () => {
  const one = await agent();
  await addRecords(
    db,
    [old, older, young].map((atMs) => ({ ...one, atMs })),
  );
  await round();
  assert.deepEqual(await existingPartitions(), names);
  assert.deepEqual(await seen(), { records: 1, counted: 1 });
  await round();
  assert.deepEqual(await existingPartitions(), []);
  assert.deepEqual(await miscounted(db), []);
  for (const table of ['statistics', 'breakdown']) {
    const { rows } = await sql<{ recorded: number; occurred: number }>`
      select sum(recorded)::int as recorded, sum(occurred)::int as occurred
      from ${sql.table(table)} where level = 'day'`.execute(db);
    assert.deepEqual(rows, [{ recorded: 1, occurred: 3 }], table);
  }
  // Records of a month without a partition are still stored.
  await addRecords(db, [{ ...one, atMs: old }]);
});

test('an open workflow run keeps its month with the records of its steps', async (t) => {
  const one = await agent();
  await addRecords(db, [{ ...one, atMs: older }]);
  const workflow = await addWorkflow({ db, ...owned }, { steps: [] });
  const runId = await addOpenRun(db, workflow);
  t.after(() => sql`delete from workflow_runs where id = ${runId}`.execute(db));
  await sql`update workflow_runs set executed_at = to_timestamp(${older / 1000}) where id = ${runId}`.execute(
    db,
  );
  assert.equal(await months.moveFloor(db), false);
  await sql`
    update workflow_runs set status = 'success', completed_at = clock_timestamp() where id = ${runId}`.execute(
    db,
  );
  assert.equal(await months.moveFloor(db), true);
});

test('a reader with an older snapshot still sees the month, which is dropped afterwards', async () => {
  const one = await agent();
  await addRecords(
    db,
    [old, young].map((atMs) => ({ ...one, atMs })),
  );
  await reader.query('begin isolation level repeatable read read only');
  // A snapshot without a lock on the table: only the snapshot itself delays the drop.
  await reader.query('select 1 from workspaces limit 1');
  await round();
  await round();
  assert.equal((await months.listDroppableMonths(db)).length, 2);
  assert.equal(await months.isFloorSettled(db), false);
  assert.deepEqual(await existingPartitions(), names);
  assert.deepEqual(await seen(), { records: 2, counted: 2 });
  await reader.query('commit');
  assert.deepEqual(await seen(), { records: 1, counted: 1 });
  await round();
  assert.deepEqual(await existingPartitions(), []);
});

test('a drop neither waits for a reader of the table nor makes others wait', async () => {
  const one = await agent();
  await addRecords(
    db,
    [old, young].map((atMs) => ({ ...one, atMs })),
  );
  assert.ok(await months.moveFloor(db));
  await reader.query('begin');
  await reader.query('select count(*) from executions');
  assert.equal(await months.dropMonth(db, names[0] ?? ''), false);
  assert.deepEqual(await seen(), { records: 1, counted: 1 });
  await reader.query('commit');
  assert.equal(await months.dropMonth(db, names[0] ?? ''), true);
  assert.deepEqual(await existingPartitions(), [names[1]]);
});

test('an agent with a longer retention keeps the month, but only its own records', async () => {
  const [longer, usual] = [await agent(400), await agent()];
  const ids = await addRecords(
    db,
    [longer, usual].flatMap((one) => [old, young].map((atMs) => ({ ...one, atMs }))),
  );
  await round();
  await round();
  assert.deepEqual(await existingPartitions(), names);
  assert.deepEqual(await remainingIds(db, ids), [ids[0], ids[1], ids[3]]);
  assert.deepEqual(await miscounted(db), []);
  await sql`update agents set records_days = null, deleted_at = clock_timestamp(), stage = 'Paused', api_enabled = false
    where id = ${longer.agentId}`.execute(db);
  await round();
  await round();
  assert.deepEqual(await existingPartitions(), []);
  assert.deepEqual(await remainingIds(db, ids), [ids[1], ids[3]]);
  assert.deepEqual(await miscounted(db), []);
});

test('an execution that has not ended keeps its month and later ones, but not earlier ones', async () => {
  const one = await agent();
  const ids = await addRecords(db, [
    { ...one, atMs: older },
    { ...one, atMs: old, status: 'processing' },
    { ...one, atMs: old },
  ]);
  await round();
  await round();
  assert.deepEqual(await existingPartitions(), [names[1]]);
  assert.deepEqual(await remainingIds(db, ids), [ids[1]]);
  assert.deepEqual(await miscounted(db), []);
});

test('the floor does not move if an agent keeps records forever or no whole month is freed', async () => {
  const one = await agent();
  await sql`update workspaces set records_days = null where id = ${one.workspaceId}`.execute(db);
  await addRecords(db, [{ ...one, atMs: old }]);
  assert.equal(await months.moveFloor(db), false);
  await sql`update workspaces set records_days = 90 where id = ${one.workspaceId}`.execute(db);
  assert.equal(await months.moveFloor(db), true);
  assert.equal(await months.moveFloor(db), false);
});

test('a move of the floor and a change of retention wait for each other', async () => {
  const one = await agent();
  const ids = await addRecords(db, [{ ...one, atMs: old }]);
  const forEver = { recordsDays: null, bodiesDays: null };
  const moved = await during(
    db,
    (trx) => writeRetention(trx, one.workspaceId, forEver),
    () => months.moveFloor(db),
  );
  assert.equal(moved, false);
  assert.deepEqual(await remainingIds(db, ids), ids);
  const { length } = await during(
    db,
    (trx) => sql`select from maintenance_jobs where name = 'retention' for update`.execute(trx),
    () => db.transaction(async (trx) => [await writeRetention(trx, one.workspaceId, forEver)]),
  );
  assert.equal(length, 1);
});

test('the reporting view starts at the floor and is read-only', async () => {
  const one = await agent();
  const ids = await addRecords(
    db,
    [old, young].map((atMs) => ({ ...one, atMs })),
  );
  const viewed = async () => {
    const { rows } = await sql<{ executionId: string }>`
      select execution_id from cueline_executions order by execution_id`.execute(db);
    return rows.map(({ executionId }) => executionId);
  };
  assert.deepEqual(await viewed(), ids);
  assert.ok(await months.moveFloor(db));
  assert.deepEqual(await viewed(), [ids[1]]);
  await assert.rejects(sql`delete from cueline_executions`.execute(db), /read-only/);
});

test('records below the floor outside their month are removed too, and subtracted once', async () => {
  const one = await agent();
  const before = older - 40 * dayMs;
  const ids = await addRecords(db, [
    { ...one, atMs: before },
    { ...one, atMs: young },
  ]);
  assert.ok(await months.moveFloor(db));
  await round();
  assert.deepEqual(await remainingIds(db, ids), [ids[1]]);
  assert.deepEqual(await miscounted(db), []);
  const { rows } = await sql`select from statistics where recorded < 0`.execute(db);
  assert.equal(rows.length, 0);
});

test('one process at a time creates future partitions, with an adjusted autovacuum', async () => {
  const partitions = async () => {
    const { rows } = await sql<{ options: string[] }>`
      select reloptions as options from pg_class c join pg_inherits i on i.inhrelid = c.oid
      where i.inhparent = 'executions'::regclass and relname <> all (${names}::text[])`.execute(db);
    return rows;
  };
  const before = (await partitions()).length;
  await reader.query('begin');
  await reader.query('select pg_advisory_xact_lock(7315202612)');
  await sql`select make_execution_partitions(4)`.execute(db);
  assert.equal((await partitions()).length, before);
  await reader.query('commit');
  await Promise.all(
    Array.from({ length: 5 }, () => sql`select make_execution_partitions(4)`.execute(db)),
  );
  assert.equal((await partitions()).length, before + 2);
  for (const { options } of await partitions()) {
    assert.ok(options.includes('autovacuum_vacuum_insert_scale_factor=0.02'));
  }
});
