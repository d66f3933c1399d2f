import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { createTestDatabase } from '../../../harness/database.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { failedAttempt } from '../../../harness/models.ts';
import { addWorkspace } from '../../../harness/people.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { queueExecutions } from '../../../harness/records.ts';
import { addOpenRun, addWorkflow, step } from '../../../harness/workflow-runs.ts';
import { shadowClock } from '../../../proof/clock.ts';
import { nothingSpent } from '../../../src/core/execution/queued-execution.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { type Sql, sql } from '../../../src/db/sql.ts';
import { claimDueStops, findDueAgents } from '../../../src/engine/advance/workflow-steps.ts';
import {
  claimExecutions,
  promoteDelayed,
  releaseExecutions,
} from '../../../src/engine/run/queue.ts';
import { heartbeat, registerWorker, sweepWorkers } from '../../../src/engine/run/workers.ts';
import { runAll } from '../../../src/engine/transaction/paced-transactions.ts';
import { tryStartJob } from '../../../src/features/history/statements/maintenance-jobs.ts';
import { countAttempt } from '../../../src/features/people/statements/sign-in-attempts.ts';
import { claimDueSchedules } from '../../../src/features/workflows/statements/schedules.ts';
import { maintenanceJobs } from '../../../src/process/background-jobs.ts';

/** The database's clock is a year ahead for a moment, and then set back. */

const database = await createTestDatabase();
const { connection } = database;
const before = openDatabase({ connection, poolMax: 1, onError: () => {} });
const clock = await shadowClock({ db: before, connection });
// Only new connections see the wrong time.
const db = openDatabase({ connection, poolMax: 3, onError: () => {} });
const pipelines = testPipelines(connection);
after(async () => {
  await pipelines.close();
  await db.destroy();
  await before.destroy();
  await database.drop();
});

const minuteMs = 60_000;
const yearMs = 366 * 86_400_000;
const leaseMs = minuteMs;
const own = '00000000-0000-0000-0000-000000000000';
const owned = await addWorkspace(db);
const agent = await addAgent({ db, ...owned });
const workflow = await addWorkflow({ db, ...owned }, { steps: [step({ name: 'a', agent })] });

let startMs: number;
beforeEach(async () => {
  startMs = await clock.nowMs();
  await sql`truncate workers, execution_queue`.execute(db);
});
/** As before, except for the duration of the test. */
afterEach(async () => {
  const behindMs = startMs - (await clock.nowMs());
  if (Math.abs(behindMs) > minuteMs / 2) await clock.leap(behindMs);
});

async function whileAhead<T>(work: () => Promise<T>): Promise<T> {
  await clock.leap(yearMs);
  const result = await work();
  await clock.leap(-yearMs);
  return result;
}

async function register(): Promise<string> {
  const id = freshId();
  await pipelines.use((send) => registerWorker(send, id, leaseMs));
  return id;
}

async function queue(): Promise<string> {
  const id = freshId();
  await queueExecutions(
    db,
    sql`select ${id}::uuid as id, ${owned.workspaceId}::uuid as workspace_id, ${agent.id}::uuid as agent_id, 1 as tag`,
  );
  return id;
}

async function claim(worker: string) {
  return (await claimExecutions(db, worker, { limit: 10, bytesMax: Infinity, fromTag: 0 }))
    .executions;
}

const promote = () => promoteDelayed(db, { withinMs: null, fromTag: 0 });

test('a round from the future starts again, and a disabled one does not', async () => {
  const begin = () => tryStartJob(db, 'retention', minuteMs);
  assert.ok(await whileAhead(begin));
  assert.deepEqual([await begin(), await begin()], [true, false]);
  await sql`update maintenance_jobs set begun_at = 'infinity'`.execute(db);
  assert.equal(await begin(), false);
});

test('live processes from the future keep their executions, dead ones lose them after one lease', async () => {
  const [dead, alive] = await whileAhead(async () => {
    const workers = [await register(), await register()];
    for (const worker of workers) {
      await queue();
      assert.equal((await claim(worker)).length, 1);
    }
    return workers;
  });
  assert.equal(await sweepWorkers(db, own, leaseMs), 0);
  await clock.leap(2 * leaseMs);
  const beat = await pipelines.use((send) => heartbeat(send, alive ?? '', leaseMs));
  assert.deepEqual(beat, []);
  assert.equal(await sweepWorkers(db, own, leaseMs), 1);
  const { rows } = await sql`select worker from execution_queue order by worker`.execute(db);
  assert.deepEqual(rows, [{ worker: alive }, { worker: null }]);
  assert.notEqual(dead, alive);
});

test('leases expire if PostgreSQL itself started in the future', async () => {
  await clock.leap(-yearMs);
  const dead = await register();
  await queue();
  await claim(dead);
  await clock.leap(2 * leaseMs);
  assert.equal(await sweepWorkers(db, own, leaseMs), 1);
});

test('an execution delayed in the future is due soon, and its latency is not negative', async () => {
  const delays = [1_000, 3_690_000];
  const [late, rightly] = [await queue(), await queue()];
  const release = async (id: string, delayMs: number) => {
    const [run] = await claim(await register());
    assert.equal(run?.id, id);
    const release = {
      ...run,
      delayMs,
      failed: failedAttempt,
      rejected: false,
      mismatch: null,
      fallback: null,
      waitCode: null,
      unstarted: false,
      spent: nothingSpent,
    };
    await releaseExecutions(db, [release]);
  };
  await sql`update execution_queue set has_slot = false where id = ${rightly}`.execute(db);
  await whileAhead(() => release(late, delays[0] ?? 0));
  await sql`update execution_queue set has_slot = null`.execute(db);
  await release(rightly, delays[1] ?? 0);
  assert.equal(await promote(), 0);
  await runAll(maintenanceJobs(db));
  assert.equal(await promote(), 1);
  const [run, ...others] = await claim(await register());
  assert.deepEqual([run?.id, run?.elapsedMs, others], [late, 0, []]);
});

test('steps due in the future are called or stopped soon', async () => {
  await whileAhead(async () => {
    const runId = await addOpenRun(db, workflow);
    await sql`
      insert into workflow_steps (run_id, step, item, status, ready_at, variables, agent_id) values
        (${runId}, 'a', 0, 'ready', clock_timestamp() + interval '5 seconds', '{}', ${agent.id}),
        (${runId}, 'a', 1, 'canceling', clock_timestamp() + interval '5 seconds', null, ${agent.id})`.execute(
      db,
    );
  });
  const due = async () => [
    (await findDueAgents(db, 10)).length,
    (await claimDueStops(db, 10)).length,
  ];
  assert.deepEqual(await due(), [0, 0]);
  await runAll(maintenanceJobs(db));
  assert.deepEqual(await due(), [1, 1]);
});

test('a schedule that advanced in the future ticks at its cron, and others stay unchanged', async () => {
  const add = async (cron: string, timeZone: string, nextAt: Sql) => {
    const { rows } = await sql<{ id: string }>`
      insert into workflow_schedules (id, workflow_id, workspace_id, cron, time_zone, missed, input, next_at)
      values (gen_random_uuid(), ${workflow.id}, ${owned.workspaceId}, ${cron}, ${timeZone}, 'skip', '{}', ${nextAt})
      returning id`.execute(db);
    return rows[0]?.id ?? '';
  };
  const inAYear = sql`clock_timestamp() + interval '366 days'`;
  const everyMinute = await add('* * * * *', 'UTC', inAYear);
  await add('* * * * *', 'Nowhere/Anymore', inAYear);
  const midnight = sql`date_trunc('day', clock_timestamp(), 'UTC') + interval '1 day'`;
  const daily = await add('0 0 * * *', 'UTC', midnight);
  const nextOf = async (id: string) => {
    const { rows } = await sql<{ nextAt: Date }>`
      select next_at from workflow_schedules where id = ${id}`.execute(db);
    return rows[0]?.nextAt.getTime() ?? Number.NaN;
  };
  const dailyAt = await nextOf(daily);
  await runAll(maintenanceJobs(db));
  assert.ok((await nextOf(everyMinute)) <= (await clock.nowMs()) + minuteMs);
  assert.equal(await nextOf(daily), dailyAt);
  await clock.leap(minuteMs);
  const { schedules } = await db.transaction((trx) =>
    claimDueSchedules(trx, { limit: 10, failed: [] }),
  );
  assert.ok(schedules.some(({ id }) => id === everyMinute));
});

test('sign-in attempts in the future do not block sign-in now', async () => {
  const attempt = async () => (await countAttempt(db, 'someone', 5 * minuteMs)).count;
  await whileAhead(async () => assert.deepEqual([await attempt(), await attempt()], [1, 2]));
  assert.deepEqual([await attempt(), await attempt()], [1, 2]);
  // Two concurrent rows may differ slightly in either direction.
  await clock.leap(-1_000);
  assert.equal(await attempt(), 3);
});
