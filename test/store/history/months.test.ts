import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { addAgent } from '../../../harness/agents.ts';
import { createTestDatabase } from '../../../harness/database.ts';
import { during } from '../../../harness/locks.ts';
import { addWorkspace } from '../../../harness/people.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { addMonth, addRecords, dayMs, left, miscounted } from '../../../harness/records.ts';
import { addOpenRun, addWorkflow } from '../../../harness/workflow-runs.ts';
import { retentionRound } from '../../../src/flow/history/retention-round.ts';
import { openDatabase } from '../../../src/store/connection/database.ts';
import * as months from '../../../src/store/history/months.ts';
import { writeRetention } from '../../../src/store/history/retention.ts';

/** Whole months that go: the floor first, the partition once nobody reads by the floor before, the buckets last. */

const database = await createTestDatabase();
const { connection } = database;
const db = openDatabase({ connection, poolMax: 5, onError: () => {} });
const pipelines = testPipelines(connection);
const reader = new pg.Client(connection);
await reader.connect();
after(async () => {
  await reader.end();
  await pipelines.close();
  await db.destroy();
  await database.drop();
});

const { signal } = new AbortController();
const round = () => retentionRound({ db, pipelines, signal, rest: 0 });
/** In the middle of a month that lies wholly more than 90 days back, and of the one before it. */
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

async function standing(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relname = any (${names}::text[]) order by relname`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** What the reader finds of the history, by the floor that it sees. */
async function seen(): Promise<{ records: number; counted: number }> {
  const { rows } = await reader.query<{ records: number; counted: number }>(`
    select (select count(*) from executions where id >= (select id_floor(at) from history_floor))::int as records,
      (select coalesce(sum(recorded), 0) from statistics
       where level = 'day' and bucket >= (select at from history_floor))::int as counted`);
  return rows[0] ?? { records: -1, counted: -1 };
}

test('a month that nobody keeps is dropped, and its buckets hold no records', async () => {
  const one = await agent();
  await addRecords(
    db,
    [old, older, young].map((atMs) => ({ ...one, atMs })),
  );
  await round();
  assert.deepEqual(await standing(), names);
  assert.deepEqual(await seen(), { records: 1, counted: 1 });
  await round();
  assert.deepEqual(await standing(), []);
  assert.deepEqual(await miscounted(db), []);
  for (const table of ['statistics', 'breakdown']) {
    const { rows } = await sql<{ recorded: number; occurred: number }>`
      select sum(recorded)::int as recorded, sum(occurred)::int as occurred
      from ${sql.table(table)} where level = 'day'`.execute(db);
    assert.deepEqual(rows, [{ recorded: 1, occurred: 3 }], table);
  }
  // And a partition that is not there loses no run.
  await addRecords(db, [{ ...one, atMs: old }]);
});

test('a run of a workflow that goes on holds its month, and what its steps left there', async (t) => {
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

test('one who reads with an older snapshot reads on; the month goes after', async () => {
  const one = await agent();
  await addRecords(
    db,
    [old, young].map((atMs) => ({ ...one, atMs })),
  );
  await reader.query('begin isolation level repeatable read read only');
  // A snapshot, but no lock on the table yet: nothing but the snapshot itself holds the drop back.
  await reader.query('select 1 from workspaces limit 1');
  await round();
  await round();
  assert.equal((await months.listDroppableMonths(db)).length, 2);
  assert.equal(await months.isFloorSettled(db), false);
  assert.deepEqual(await standing(), names);
  assert.deepEqual(await seen(), { records: 2, counted: 2 });
  await reader.query('commit');
  assert.deepEqual(await seen(), { records: 1, counted: 1 });
  await round();
  assert.deepEqual(await standing(), []);
});

test('a drop does not wait for one who uses the table, and nobody waits for it', async () => {
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
  assert.deepEqual(await standing(), [names[1]]);
});

test('one agent that keeps longer keeps the month, for its own records only', async () => {
  const [longer, usual] = [await agent(400), await agent()];
  const ids = await addRecords(
    db,
    [longer, usual].flatMap((one) => [old, young].map((atMs) => ({ ...one, atMs }))),
  );
  await round();
  await round();
  assert.deepEqual(await standing(), names);
  assert.deepEqual(await left(db, ids), [ids[0], ids[1], ids[3]]);
  assert.deepEqual(await miscounted(db), []);
  await sql`update agents set records_days = null, deleted_at = clock_timestamp(), stage = 'Paused', api_enabled = false
    where id = ${longer.agentId}`.execute(db);
  await round();
  await round();
  assert.deepEqual(await standing(), []);
  assert.deepEqual(await left(db, ids), [ids[1], ids[3]]);
  assert.deepEqual(await miscounted(db), []);
});

test('a run that has not ended holds its month and those after it, not those before', async () => {
  const one = await agent();
  const ids = await addRecords(db, [
    { ...one, atMs: older },
    { ...one, atMs: old, status: 'processing' },
    { ...one, atMs: old },
  ]);
  await round();
  await round();
  assert.deepEqual(await standing(), [names[1]]);
  assert.deepEqual(await left(db, ids), [ids[1]]);
  assert.deepEqual(await miscounted(db), []);
});

test('the floor stands still where one keeps for ever, and where nothing is gained', async () => {
  const one = await agent();
  await sql`update workspaces set records_days = null where id = ${one.workspaceId}`.execute(db);
  await addRecords(db, [{ ...one, atMs: old }]);
  assert.equal(await months.moveFloor(db), false);
  await sql`update workspaces set records_days = 90 where id = ${one.workspaceId}`.execute(db);
  assert.equal(await months.moveFloor(db), true);
  assert.equal(await months.moveFloor(db), false);
});

test('the floor waits for who is changing how long something is kept, and they for it', async () => {
  const one = await agent();
  const ids = await addRecords(db, [{ ...one, atMs: old }]);
  const forEver = { recordsDays: null, bodiesDays: null };
  const moved = await during(
    db,
    (trx) => writeRetention(trx, one.workspaceId, forEver),
    () => months.moveFloor(db),
  );
  assert.equal(moved, false);
  assert.deepEqual(await left(db, ids), ids);
  const { length } = await during(
    db,
    (trx) => sql`select from maintenance_jobs where name = 'retention' for update`.execute(trx),
    () =>
      db
        .transaction()
        .execute(async (trx) => [await writeRetention(trx, one.workspaceId, forEver)]),
  );
  assert.equal(length, 1);
});

test('the view for reports begins at the floor, and stays read-only', async () => {
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

test('records before the floor outside of their month go too, and are not counted twice', async () => {
  const one = await agent();
  const before = older - 40 * dayMs;
  const ids = await addRecords(db, [
    { ...one, atMs: before },
    { ...one, atMs: young },
  ]);
  assert.ok(await months.moveFloor(db));
  await round();
  assert.deepEqual(await left(db, ids), [ids[1]]);
  assert.deepEqual(await miscounted(db), []);
  const { rows } = await sql`select from statistics where recorded < 0`.execute(db);
  assert.equal(rows.length, 0);
});

test('partitions are made ahead by one process at a time, with vacuums that keep up', async () => {
  const made = async () => {
    const { rows } = await sql<{ options: string[] }>`
      select reloptions as options from pg_class c join pg_inherits i on i.inhrelid = c.oid
      where i.inhparent = 'executions'::regclass and relname <> all (${names}::text[])`.execute(db);
    return rows;
  };
  const before = (await made()).length;
  await reader.query('begin');
  await reader.query('select pg_advisory_xact_lock(7315202612)');
  await sql`select make_execution_partitions(4)`.execute(db);
  assert.equal((await made()).length, before);
  await reader.query('commit');
  await Promise.all(
    Array.from({ length: 5 }, () => sql`select make_execution_partitions(4)`.execute(db)),
  );
  assert.equal((await made()).length, before + 2);
  for (const { options } of await made()) {
    assert.ok(options.includes('autovacuum_vacuum_scale_factor=0.02'));
  }
});
