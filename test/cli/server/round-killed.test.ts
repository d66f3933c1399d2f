import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addAgent } from '../../../harness/agents.ts';
import { openTestDatabase } from '../../../harness/database.ts';
import { addWorkspace } from '../../../harness/people.ts';
import { spawnCueline } from '../../../harness/process.ts';
import { countHistory, miscounted } from '../../../harness/records.ts';
import { runRetentionRound } from '../../../harness/retention-round.ts';
import { sql } from '../../../src/db/sql.ts';

const { database, connection, db, close } = await openTestDatabase(3);
after(close);

const records = 12_000;

async function count(): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from executions`.execute(db);
  return rows[0]?.n ?? 0;
}

async function untilFewerThan(n: number): Promise<void> {
  while ((await count()) >= n) await wait(5);
}

test('a process killed during maintenance leaves consistent data, and the next process continues', async () => {
  const { workspaceId, ownerId } = await addWorkspace(db);
  const { id: agentId } = await addAgent({ db, workspaceId, ownerId });
  const stranger = await addAgent({ db, workspaceId, ownerId });
  // Half of the records are expired; a third of the other half belongs to the erased end user.
  await sql`
    insert into executions (id, workspace_id, agent_id, prompt_version_id, executed_at, completed_at, status, source,
      agent_name, prompt_version_label, model, error_code, error, input_variables)
    select (left(id_floor(at)::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, ${workspaceId},
      case when n % 2 = 0 then ${agentId}::uuid else ${stranger.id}::uuid end, ${workspaceId}, at, at, 'canceled', 'api',
      'A', 'v1', 'cueline/echo', 'CANCELED', 'Canceled.', json_build_object('customer', 'c' || n % 3)
    from (
      select n, clock_timestamp() - (1 + n % 2 * 100) * interval '1 day' - n * interval '1 second' as at
      from generate_series(1, ${records}::int) as n) as made`.execute(db);
  await countHistory(db);
  await sql`
    insert into erasures (id, workspace_id, variable, value, down_to)
    values (gen_random_uuid(), ${workspaceId}, 'customer', 'c0', id_floor(clock_timestamp()))`.execute(
    db,
  );

  let before = records;
  for (let kills = 0; kills < 2; kills++) {
    await sql`update maintenance_jobs set begun_at = 'epoch'`.execute(db);
    const worker = await spawnCueline('worker', connection);
    await untilFewerThan(before);
    await worker.kill('SIGKILL');
    // Its work ends with it, or has been committed.
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
      .execute(db)
      .catch(() => {});
    before = await count();
    assert.ok(before > records / 3, 'it was killed before it was done');
    assert.deepEqual(await miscounted(db), []);
  }
  await runRetentionRound(db, database);
  assert.deepEqual(await miscounted(db), []);
  const { rows } = await sql<{ left: number; erased: number; overdue: number }>`
    select count(*) as left, count(*) filter (where input_variables ->> 'customer' = 'c0') as erased,
      count(*) filter (where id < id_floor(clock_timestamp() - interval '90 days')) as overdue
    from executions`.execute(db);
  const kept = Array.from({ length: records }, (_, n) => n + 1).filter(
    (n) => n % 2 === 0 && n % 3 > 0,
  );
  assert.deepEqual(rows, [{ left: kept.length, erased: 0, overdue: 0 }]);
  const { rows: done } = await sql<{ value: string | null; deleted: number; of: string }>`
    select value, deleted from erasures where completed_at is not null`.execute(db);
  assert.equal(done.length, 1);
  assert.equal(done[0]?.value, null);
});
