import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { runAsAdmin } from '../../harness/cluster.ts';
import { createTestDatabase } from '../../harness/database.ts';
import { makeRecords, wholeHistory } from '../../harness/history.ts';
import { countHistory } from '../../harness/records.ts';
import { listExecutions } from '../../src/flow/history/list-executions.ts';
import { openDatabase } from '../../src/store/connection/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { up as people } from '../../src/store/migrations/0001-people.ts';
import { up as agents } from '../../src/store/migrations/0002-agents.ts';
import { up as executions } from '../../src/store/migrations/0003-executions.ts';

/** A database as it was before histories were counted by everything, with data in it. */

const database = await createTestDatabase();
const { connection } = database;
const db = openDatabase({ connection, poolMax: 2, onError: () => {} });
const [workspaceId, agentId] = [1, 2].map((n) => `00000000-0000-7000-8000-00000000000${n}`);

before(async () => {
  const admin = { ...connection, user: 'postgres', database: connection.database };
  await runAsAdmin(admin, 'drop owned by cueline');
  await runAsAdmin(admin, 'grant all on schema public to cueline');
  await db.transaction().execute(async (trx) => {
    for (const up of [people, agents, executions]) await up(trx as unknown as Kysely<never>);
    await sql`
      create table schema_migrations (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(
      trx,
    );
    await sql`
      insert into schema_migrations
      select name, '' from unnest(array['0001-people', '0002-agents', '0003-executions']) as name`.execute(
      trx,
    );
  });
  await sql`insert into workspaces (id, name) values (${workspaceId}, 'Old')`.execute(db);
  await makeRecords(db, 4_000, { workspaceId, agentIds: [agentId ?? ''] });
  // As they were added up then: every array from its first bin on.
  await sql`
    insert into statistics
    select agent_id, level, date_trunc(level, executed_at, 'UTC'), status, source, count(*), count(*),
      sum(input_tokens), sum(output_tokens), sum(cost_usd),
      case when count(started_at) = 0 then '{}' else array_fill(0::bigint, array[7]) || count(started_at) end
    from executions cross join unnest(array['minute', 'hour', 'day']) as level
    where status <> 'processing' group by 1, 2, 3, 4, 5`.execute(db);
  await migrate(db);
});
after(async () => {
  await db.destroy();
  await database.drop();
});

test('what was there is counted by everything, as if it always had been', async () => {
  const breakdown = async () =>
    (
      await sql`
        select agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code, happened,
          recorded, input_tokens, output_tokens, cost_usd,
          (select jsonb_object_agg(bin, n) from (
            select generate_subscripts(latency, 1) as bin, unnest(latency) as n) as bins where n > 0) as latency
        from breakdown order by 1, 2, 3, 4, 5, 6, 7, 8, 9`.execute(db)
    ).rows;
  const migrated = await breakdown();
  assert.ok(migrated.length > 1_000);
  await countHistory(db);
  assert.deepEqual(migrated, await breakdown());
});

test('its history is listed, and goes on to be added up', async () => {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from executions where status = 'failed'`.execute(db);
  const question = { ...wholeHistory([agentId ?? '']), status: 'failed' as const };
  assert.equal((await listExecutions(db, question)).total, rows[0]?.total);
  const { rows: added } = await sql<{ sum: number[] }>`
    select add_counts('{0,0,0,5}', '[3:5]={1,2,3}')::float8[] as sum`.execute(db);
  assert.deepEqual(added[0]?.sum, [0, 0, 1, 7, 3]);
});

test('a workspace from before keeps its records until an owner says otherwise; a new one for 90 days', async () => {
  await sql`insert into workspaces (id, name) values (${agentId}, 'New')`.execute(db);
  const { rows } = await sql`select name, records_days as days from workspaces order by id`.execute(
    db,
  );
  assert.deepEqual(rows, [
    { name: 'Old', days: null },
    { name: 'New', days: 90 },
  ]);
});
