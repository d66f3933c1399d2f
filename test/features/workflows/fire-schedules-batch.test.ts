import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestDatabase } from '../../../harness/database.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { addWorkspace } from '../../../harness/people.ts';
import { sql } from '../../../src/db/sql.ts';
import { fireSchedules } from '../../../src/features/workflows/verbs/fire-schedules.ts';
import type { StartCall, Started } from '../../../src/features/workflows/verbs/start-call.ts';

/** Many schedules that are due at the same moment, polled only by this process. */

const { db, close } = await openTestDatabase(2);
after(close);
const { workspaceId } = await addWorkspace(db);
const workflowId = freshId();
await sql`
  insert into workflows (id, workspace_id, name) values (${workflowId}, ${workspaceId}, 'w')`.execute(
  db,
);

/** All due since a second, a millisecond apart. */
async function due(count: number): Promise<string[]> {
  await sql`delete from workflow_schedules`.execute(db);
  const ids = Array.from({ length: count }, () => freshId());
  await sql`
    insert into workflow_schedules (id, workflow_id, workspace_id, cron, time_zone, missed, input, next_at)
    select id, ${workflowId}, ${workspaceId}, '0 0 1 1 *', 'UTC', 'skip', '{}',
      clock_timestamp() - interval '1 second' + place * interval '1 ms'
    from unnest(${ids}::uuid[]) with ordinality as s (id, place)`.execute(db);
  return ids;
}

async function stillDue(): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workflow_schedules where next_at <= clock_timestamp() order by next_at`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

const accepted: Started = {
  ...{ kind: 'accepted', nowMs: 0, replayed: false, runId: '', workflowId, workflowName: '' },
  ...{ workflowVersionId: '', workflowVersionLabel: '', executedAtMs: 0 },
  ...{ currentStatus: 'processing', ignoredInput: [], states: [] },
};

async function fire(start: (call: StartCall) => Promise<Started>) {
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  await fireSchedules({ db, starter: { start }, onRefused: () => assert.fail(), onError });
  return errors;
}

const idOf = ({ credential }: StartCall) => (credential.kind === 'trigger' ? credential.id : '');

test('due schedules start in parallel, so the starter can batch them', async () => {
  const ids = await due(40);
  const started: string[] = [];
  const all = Promise.withResolvers<void>();
  const errors = await fire(async (call) => {
    // Serial starts would wait here forever.
    if (started.push(idOf(call)) === ids.length) all.resolve();
    await all.promise;
    return accepted;
  });
  assert.deepEqual(errors, []);
  assert.deepEqual(started.toSorted(), ids.toSorted());
  assert.deepEqual(await stillDue(), []);
});

test('one poll fires several batches of schedules, each schedule once', async () => {
  const ids = await due(250);
  const started: string[] = [];
  await fire(async (call) => {
    started.push(idOf(call));
    return accepted;
  });
  assert.deepEqual(started.toSorted(), ids.toSorted());
  assert.deepEqual(await stillDue(), []);
});

test('a schedule that fails blocks no other one, is reported and retried later', async () => {
  const ids = await due(150);
  const broken = ids.filter((_, place) => place < 120);
  const tried: string[] = [];
  const errors = await fire(async (call) => {
    tried.push(idOf(call));
    if (broken.includes(idOf(call))) throw new Error('no');
    return accepted;
  });
  assert.equal(errors.length, broken.length);
  assert.deepEqual(tried.toSorted(), ids.toSorted());
  assert.deepEqual(await stillDue(), broken);
  await fire(async () => accepted);
  assert.deepEqual(await stillDue(), []);
});

test('locked schedules are skipped', async () => {
  const [held = '', ...others] = await due(3);
  const started: string[] = [];
  await db.transaction(async (trx) => {
    await sql`select from workflow_schedules where id = ${held} for update`.execute(trx);
    await fire(async (call) => {
      started.push(idOf(call));
      return accepted;
    });
  });
  assert.deepEqual(started.toSorted(), others.toSorted());
  assert.deepEqual(await stillDue(), [held]);
});
