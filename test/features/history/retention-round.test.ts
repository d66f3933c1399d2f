import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addAgent } from '../../../harness/agents.ts';
import { openTestDatabase } from '../../../harness/database.ts';
import { addWorkspace } from '../../../harness/people.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import {
  addMonth,
  addRecords,
  countHistory,
  dayMs,
  endQueued,
  miscounted,
  putRecords,
  remainingIds,
} from '../../../harness/records.ts';
import type { Db } from '../../../src/db/database.ts';
import type { Pipelines } from '../../../src/db/pipeline.ts';
import { sql } from '../../../src/db/sql.ts';
import { removeBodies } from '../../../src/features/history/statements/bodies.ts';
import { overdueBefore } from '../../../src/features/history/statements/retention-statements.ts';
import {
  retentionRound,
  rollupRound,
} from '../../../src/features/history/verbs/retention-round.ts';

/** What retention rounds delete and keep. Whole months are tested in `months.test.ts`. */

const { connection, db, close } = await openTestDatabase();
const pipelines = testPipelines(connection);
after(async () => {
  await pipelines.close();
  await close();
});

const { signal } = new AbortController();
const round = (ending = signal) => retentionRound({ db, pipelines, signal: ending, rest: 0 });
const now = Date.now();
const ago = (days: number) => now - days * dayMs;
let owned: Awaited<ReturnType<typeof addWorkspace>>;

beforeEach(async () => {
  await sql`truncate executions, execution_queue, statistics, breakdown`.execute(db);
  owned = await addWorkspace(db);
});

async function agent(retention: { recordsDays?: number | null; bodiesDays?: number } = {}) {
  const { id } = await addAgent({ db, ...owned });
  const { recordsDays = null, bodiesDays = null } = retention;
  await sql`
    update agents set records_days = ${recordsDays}, bodies_days = ${bodiesDays} where id = ${id}`.execute(
    db,
  );
  return { ...owned, agentId: id };
}

test('overdue records are deleted with their statistics', async () => {
  const one = await agent();
  const ids = await addRecords(db, [
    ...[91, 90.5, 89.5, 1].map((days) => ({ ...one, atMs: ago(days) })),
    { ...one, atMs: ago(95), status: 'canceled' as const },
  ]);
  await round();
  assert.deepEqual(await remainingIds(db, ids), [ids[2], ids[3]]);
  assert.deepEqual(await miscounted(db), []);
  const { rows } = await sql<{ occurred: number; recorded: number }>`
    select sum(occurred)::float8 as occurred, sum(recorded)::float8 as recorded
    from statistics where level = 'day'`.execute(db);
  assert.deepEqual(rows, [{ occurred: 5, recorded: 2 }]);
});

test('an agent may have its own retention, which holds after its deletion', async () => {
  const [longer, shorter, deleted] = [
    await agent({ recordsDays: 200 }),
    await agent({ recordsDays: 10 }),
    await agent({ recordsDays: 200 }),
  ];
  await sql`
    update agents set deleted_at = clock_timestamp(), stage = 'Paused', api_enabled = false
    where id = ${deleted.agentId}`.execute(db);
  const ids = await addRecords(
    db,
    [longer, shorter, deleted].flatMap((one) => [
      { ...one, atMs: ago(201) },
      { ...one, atMs: ago(150) },
      { ...one, atMs: ago(5) },
    ]),
  );
  await round();
  assert.deepEqual(
    await remainingIds(db, ids),
    [1, 2, 5, 7, 8].map((place) => ids[place]),
  );
  assert.deepEqual(await miscounted(db), []);
});

test('unlimited retention and the longest retention delete nothing', async () => {
  const ids: string[] = [];
  for (const days of [null, 36_500]) {
    const one = await agent();
    await sql`update workspaces set records_days = ${days}, bodies_days = ${days}
      where id = ${one.workspaceId}`.execute(db);
    ids.push(...(await addRecords(db, [{ ...one, atMs: ago(9_000) }])));
    owned = await addWorkspace(db);
  }
  await round();
  assert.deepEqual(await remainingIds(db, ids), ids);
  const { rows } = await sql`select from executions where output is null`.execute(db);
  assert.equal(rows.length, 0);
});

test('a live execution of any age is kept', async () => {
  const one = await agent({ recordsDays: 1, bodiesDays: 1 });
  const [run, record] = await addRecords(db, [
    { ...one, atMs: ago(3), status: 'processing' },
    { ...one, atMs: ago(2) },
  ]);
  await round();
  assert.deepEqual(await remainingIds(db, [run ?? '', record ?? '']), [run]);
  const { rows } = await sql`
    select from all_executions where id = ${run} and input_variables is not null`.execute(db);
  assert.equal(rows.length, 1);
});

test('a round deletes several batches, and the next round continues an aborted one', async () => {
  const one = await agent();
  const records = Array.from({ length: 2_500 }, (_, n) => ({ ...one, atMs: ago(100) + n * 1_000 }));
  const ids = await addRecords(db, records);
  const ending = new AbortController();
  ending.abort();
  await round(ending.signal);
  assert.equal((await remainingIds(db, ids)).length, 2_500);
  await round();
  assert.deepEqual(await remainingIds(db, ids), []);
  assert.deepEqual(await miscounted(db), []);
});

test('a longer retention takes effect at once, even during a round', async () => {
  const [records, bodies] = [await agent({ recordsDays: 90 }), await agent({ bodiesDays: 7 })];
  const many = (one: typeof records, days: number) =>
    Array.from({ length: 1_500 }, (_, n) => ({ ...one, atMs: ago(days) + n * 1_000 }));
  const ids = await addRecords(db, many(records, 100));
  await addRecords(db, many(bodies, 8));
  const keep = (id: string) =>
    sql`
    update agents set records_days = 36500, bodies_days = 36500 where id = ${id}`.execute(db);
  const changing: Pipelines = {
    ...pipelines,
    use: async (work) => {
      const result = await pipelines.use(work);
      await keep(records.agentId);
      return result;
    },
  };
  const first = await removeBodies(db, { agentId: bodies.agentId, limit: 1_000 });
  await keep(bodies.agentId);
  const next = await removeBodies(db, { agentId: bodies.agentId, limit: 1_000 });
  assert.deepEqual([first, next], [1_000, 0]);
  await retentionRound({ db, pipelines: changing, signal, rest: 0 });
  assert.equal((await remainingIds(db, ids)).length, 500);
  assert.deepEqual(await miscounted(db), []);
});

test('after a timeout the next round continues with the next agent', async () => {
  const agents = [
    await agent({ recordsDays: 1 }),
    await agent({ recordsDays: 1 }),
    await agent({ recordsDays: 1 }),
  ];
  const ids = await addRecords(
    db,
    agents.map((one) => ({ ...one, atMs: ago(2) })),
  );
  const recordsMs = 2_000;
  const slow: Pipelines = {
    ...pipelines,
    use: async (work) => {
      const result = await pipelines.use(work);
      await wait(recordsMs);
      return result;
    },
  };
  for (let gone = 1; gone <= ids.length; gone++) {
    await retentionRound({ db, pipelines: slow, signal, rest: 0, recordsMs });
    assert.deepEqual(await remainingIds(db, ids), ids.slice(gone));
  }
});

test('a day of retention has 24 hours, also with daylight saving time', async () => {
  const one = await agent();
  const spans = await db.transaction(async (trx) => {
    await sql`set local time zone 'America/New_York'`.execute(trx);
    const found: number[] = [];
    for (const days of [60, 120, 180, 240, 300, 360]) {
      await sql`update agents set records_days = ${days} where id = ${one.agentId}`.execute(trx);
      const { rows } = await sql<{ days: number }>`
        select (extract(epoch from clock_timestamp() - id_time(${overdueBefore('records_days')})) / 86400)::float8
          as days
        from agents a join workspaces w on w.id = a.workspace_id where a.id = ${one.agentId}`.execute(
        trx,
      );
      found.push(Math.round((rows[0]?.days ?? 0) * 100) / 100);
    }
    return found;
  });
  assert.deepEqual(spans, [60, 120, 180, 240, 300, 360]);
});

test('bodies are removed before their record, but never those of a live execution', async () => {
  const one = await agent({ bodiesDays: 7 });
  const [older, run, between, young] = await addRecords(db, [
    { ...one, atMs: ago(10) },
    { ...one, atMs: ago(9), status: 'processing' },
    { ...one, atMs: ago(8) },
    { ...one, atMs: ago(6) },
  ]);
  const bare = async () => {
    const { rows } = await sql<{ id: string }>`
      select id from executions
      where coalesce(input_variables::text, system_prompt, user_prompt, output, ip_address, user_agent) is null
      order by id`.execute(db);
    return rows.map(({ id }) => id);
  };
  await sql`update executions set ip_address = '203.0.113.7', user_agent = 'curl'`.execute(db);
  await round();
  assert.deepEqual(await bare(), [older]);
  await endQueued(db, run ?? '', 'late');
  await countHistory(db);
  await round();
  assert.deepEqual(await bare(), [older, run, between]);
  assert.ok(young);
  assert.deepEqual(await miscounted(db), []);
});

test('minutes of sparse hours are rolled up after two days', async () => {
  const one = await agent();
  const hour = Math.floor(ago(3) / 3_600_000) * 3_600_000;
  const few = Array.from({ length: 500 }, (_, n) => ({ ...one, atMs: hour + n * 7_000 }));
  const many = Array.from({ length: 501 }, (_, n) => ({
    ...one,
    atMs: hour + 3_600_000 + n * 7_000,
  }));
  await addRecords(db, [...few, ...many, { ...one, atMs: ago(1) }]);
  await fold(db);
  const { rows } = await sql<{ level: string; buckets: number; recorded: number }>`
    select level, count(*) as buckets, sum(recorded)::float8 as recorded from statistics
    group by level order by level`.execute(db);
  const minutes = new Set(many.map(({ atMs }) => Math.floor(atMs / 60_000))).size + 1;
  const days = new Set(
    [...few, ...many, { atMs: ago(1) }].map(({ atMs }) => Math.floor(atMs / dayMs)),
  ).size;
  assert.deepEqual(rows, [
    { level: 'day', buckets: days, recorded: 1_002 },
    { level: 'hour', buckets: 3, recorded: 1_002 },
    { level: 'minute', buckets: minutes, recorded: 502 },
  ]);
  assert.deepEqual(await miscounted(db), []);
});

test('a rollup round continues from the day before the last hour of the previous one', async () => {
  const one = await agent();
  const minutesAt = async (atMs: number) => {
    const { rows } = await sql<{ minutes: number }>`
      select count(*) as minutes from statistics
      where agent_id = ${one.agentId} and level = 'minute'
        and bucket = date_trunc('minute', to_timestamp(${atMs} / 1000.0), 'UTC')`.execute(db);
    return rows[0]?.minutes;
  };
  await addRecords(db, [{ ...one, atMs: ago(4) }]);
  await fold(db);
  const [within, before] = [ago(4.9), ago(5.2)];
  await addRecords(db, [
    { ...one, atMs: within },
    { ...one, atMs: before },
  ]);
  await fold(db);
  assert.deepEqual([await minutesAt(within), await minutesAt(before)], [0, 1]);
  assert.deepEqual(await miscounted(db), []);
});

test('a month without a partition loses no execution, and its records are deleted in time', async () => {
  const one = await agent();
  const atMs = ago(400);
  const [id = ''] = await addRecords(db, [{ ...one, atMs }]);
  const { rows } = await sql<{ name: string }>`
    select tableoid::regclass::text as name from executions where id = ${id}`.execute(db);
  assert.deepEqual(rows, [{ name: 'executions_default' }]);
  await round();
  assert.deepEqual(await remainingIds(db, [id]), []);
  assert.deepEqual(await miscounted(db), []);
  await addMonth(db, atMs);
  await putRecords(db, [{ ...one, atMs }]);
});

async function fold(db: Db): Promise<void> {
  await rollupRound({ db, pipelines, signal: new AbortController().signal, rest: 0 });
}
