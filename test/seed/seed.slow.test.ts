import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../../harness/service.ts';
import { checkTables } from '../../proof/checker.ts';
import { seed } from '../../seed/seed.ts';
import { firstOwner } from '../../src/cli/server/first-workspace.ts';
import { fromId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import { runSeed } from './seeder.ts';

/** The seeder and a running service share a database. */

let service: Service;

before(async () => {
  service = await startService();
});
after(() => service.close());

const known = { accepted: [], allowUnknown: true, fromZero: false };

test('one day: records, statistics and breakdown agree, and the key reads and executes', async () => {
  const args = ['--executions', '2000', '--days', '1', '--json'];
  const { code, stdout, stderr } = await runSeed(args, service.database.connection);
  assert.equal(code, 0, stderr);
  assert.equal(stderr, '');
  const { agentId, key, ...more } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  assert.deepEqual(more, {});
  assert.deepEqual(await checkTables(service.db, known), []);
  const path = `/api/v1/agents/${agentId}`;
  const totalOf = async (query: string) => {
    const { body } = await service.call('GET', `${path}/executions?limit=1${query}`, { key });
    return body.pagination.total;
  };
  assert.equal(await totalOf(''), 2_000);
  assert.equal(await totalOf('&status=unauthorized'), 1);
  const success = await totalOf('&status=success');
  assert.ok(success > 1_800 && success < 1_980, `${success} of 2,000 succeeded`);
  assert.ok((await totalOf('&source=dashboard')) > 100);
  assert.equal(await agentsWithRecords(), 1_001);
  const body = { variables: { customer: 'customer-0001', question: 'Where is it?' } };
  const accepted = await service.call('POST', `${path}/execute`, { key, body });
  assert.equal(accepted.status, 202);
  const ended = await service.call('GET', `${accepted.body.statusUrl}?wait=60`, { key });
  assert.equal(ended.body.status, 'success');
});

test('ninety days: past months have partitions, old minutes are folded, statistics agree', async () => {
  const before = await countRecords();
  const args = ['--executions', '1500', '--others', '700', '--queued', '40'];
  const ended = await runSeed(args, service.database.connection);
  assert.equal(ended.code, 0, ended.stderr);
  const agentId = fromId('agent', /Agent: (\S+)/.exec(ended.stdout)?.[1] ?? '');
  assert.equal(await countRecords(), before + 2_200);
  assert.deepEqual(await wrongTotals(), []);
  const { rows } = await sql<Record<string, number>>`
    select count(*) filter (where id < id_floor(clock_timestamp() - interval '60 days')) as old,
      count(*) filter (where tableoid = 'executions_default'::regclass) as rest,
      count(distinct prompt_version_id) as versions, count(distinct model) as models,
      count(distinct api_key_id) as keys, count(distinct error_code) > 3 as errors,
      count(*) filter (where date_trunc('milliseconds', executed_at) <> id_time(id)) as elsewhere,
      count(*) filter (where id::text !~ '^.{14}7.{4}[89ab]') as "foreign",
      count(*) filter (where completed_at <> started_at + latency_ms * interval '1 millisecond') as off
    from executions where agent_id = ${agentId}`.execute(service.db);
  const { old = 0, ...counted } = rows[0] ?? {};
  assert.ok(old > 200, `${old} are older than 60 days`);
  assert.deepEqual(counted, {
    ...{ rest: 0, versions: 3, models: 2, keys: 3, errors: true, elsewhere: 0, foreign: 0, off: 0 },
  });
  const { rows: minutes } = await sql`
    select from statistics where agent_id = ${agentId} and level = 'minute'
      and bucket < clock_timestamp() - interval '50 hours'`.execute(service.db);
  assert.equal(minutes.length, 0);
  const { rows: waiting } = await sql`
    select id from execution_queue where agent_id = ${agentId} and worker is null`.execute(
    service.db,
  );
  assert.equal(waiting.length, 40);
});

test('an interrupted seed leaves fewer executions and consistent statistics', async () => {
  const before = await countRecords();
  const ending = new AbortController();
  let rows = 0;
  const deps = {
    db: service.db,
    connection: service.database.connection,
    owner: await firstOwner(service.db, undefined),
    signal: ending.signal,
    setTotal() {},
    setPhase() {},
    addRows(count: number) {
      rows += count;
      if (rows > 9_000) ending.abort(new Error('enough'));
    },
  };
  const options = { executions: 20_000, others: null, days: 20, queued: 0 };
  await assert.rejects(seed(deps, options), /enough/);
  const written = (await countRecords()) - before;
  assert.ok(written > 1_000 && written < 20_000, `${written} of 20,000 were written`);
  assert.deepEqual(await wrongTotals(), []);
});

test('invalid arguments are rejected with the allowed values', async () => {
  const cases: [string[], RegExp][] = [
    [[], /--executions is missing/],
    [['--executions', '0'], /--executions must be a whole number from 1 to 1,000,000,000/],
    [['--executions', '-5'], /argument/],
    [['--executions', 'many'], /not "many"/],
    [['--executions', '10', '--days', '0'], /--days must be/],
    [['--executions', '10', '--others', '1.5'], /--others must be/],
    [['--executions', '10', '--all'], /--all/],
    [['10'], /10/],
  ];
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await runSeed(args, service.database.connection);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, message);
    assert.equal(stdout, '');
  }
});

async function countRecords(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from executions`.execute(service.db);
  return rows[0]?.count ?? 0;
}

async function agentsWithRecords(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from agents`.execute(service.db);
  return rows[0]?.count ?? 0;
}

/** Differences between the records and the statistics, and between the levels that are never folded. */
async function wrongTotals(): Promise<unknown[]> {
  const { rows } = await sql`
    with records as (
      select agent_id, date_trunc('hour', executed_at, 'UTC') as hour, status, source, count(*) as records,
        sum(cost_usd) as cost, count(*) filter (where not cost_known) as unknown,
        sum(input_tokens + output_tokens) as tokens, count(started_at) as started
      from executions group by 1, 2, 3, 4),
    hours as (
      select agent_id, bucket as hour, status, source, recorded, cost_usd, cost_unknown,
        input_tokens + output_tokens as tokens,
        (select sum(n) from unnest(latency) as n) as started
      from statistics where level = 'hour'),
    levels as (
      select agent_id, date_trunc('day', bucket, 'UTC') as day, 'hour' as level, recorded, cost_usd from statistics
      where level = 'hour'
      union all select agent_id, bucket, 'day', recorded, cost_usd from statistics where level = 'day'
      union all select agent_id, date_trunc('day', bucket, 'UTC'), 'quarters', recorded, cost_usd from breakdown
      where level = 'quarter'
      union all select agent_id, bucket, 'days', recorded, cost_usd from breakdown where level = 'day')
    select agent_id, hour, 'hours' as what from records full join hours using (agent_id, hour, status, source)
    where records is distinct from recorded or cost is distinct from cost_usd
      or unknown is distinct from cost_unknown
      or records.tokens is distinct from hours.tokens or records.started <> coalesce(hours.started, 0)
    union all
    select agent_id, day, 'levels' from (
      select agent_id, day, level, sum(recorded) as recorded, sum(cost_usd) as cost from levels group by 1, 2, 3) as l
    group by 1, 2 having count(*) <> 4 or min(recorded) <> max(recorded) or min(cost) <> max(cost)`.execute(
    service.db,
  );
  return rows;
}
