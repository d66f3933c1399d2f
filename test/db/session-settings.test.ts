import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { runAsAdmin } from '../../harness/cluster.ts';
import { createTestDatabase } from '../../harness/database.ts';
import { addWorkspace } from '../../harness/people.ts';
import { numbered, testPipelines } from '../../harness/pipelines.ts';
import { type Service, startService } from '../../harness/service.ts';
import { openDatabase } from '../../src/db/database.ts';
import { detectPooler } from '../../src/db/detect-pooler.ts';

/** Settings of a role or database that would change what statements mean, end them early or compile them. */
const hostile: Record<string, string> = {
  array_nulls: 'off',
  bytea_output: 'escape',
  DateStyle: 'German',
  default_transaction_isolation: 'serializable',
  exit_on_error: 'on',
  extra_float_digits: '-10',
  gin_fuzzy_search_limit: '1',
  idle_session_timeout: '9999',
  IntervalStyle: 'sql_standard',
  jit: 'on',
  lock_timeout: '9999',
  standard_conforming_strings: 'off',
  TimeZone: 'Pacific/Kiritimati',
  transaction_timeout: '9999',
  transform_null_equals: 'on',
};

const database = await createTestDatabase();
const { connection } = database;
before(async () => {
  const admin = { ...connection, user: 'postgres', database: 'postgres' };
  for (const [setting, value] of Object.entries(hostile)) {
    await runAsAdmin(
      admin,
      `alter role cueline in database ${connection.database} set ${setting} = '${value}'`,
    );
  }
});
after(() => database.drop());

/** Like a server at its start, with a setting in `DATABASE_URL` too. */
const detect = () => detectPooler({ ...connection, options: '-c array_nulls=off' });

test('the service works with a role whose settings would break it', async () => {
  const beside = { database: { ...database, connection: await detect() } } as Service;
  const db = openDatabase({ ...beside.database, poolMax: 1, onError: assert.fail });
  const owned = await addWorkspace(db);
  await db.destroy();
  const service = await startService({ sharedWith: { ...beside, ...owned } });
  try {
    const { key } = await service.key();
    const agent = await addAgent(service, { user: 'About {{topic}}' });
    const record = await run(service, agent, key, { topic: 'tides' });
    assert.equal(record.status, 'success');
    const { body } = await service.call('GET', `${agent.path}/executions?q=tides`, { key });
    assert.equal(body.pagination.total, 1);
    assert.equal(body.executions[0].executedAt, record.executedAt);
    assert.equal(body.executions[0].costUSD, record.costUSD);
  } finally {
    await service.close();
  }
});

test('every connection sends its settings, and those of its planner', async () => {
  const pipelines = testPipelines(await detect());
  const [settings, [plans]] = await pipelines.use((send) =>
    Promise.all([
      send(
        numbered<{ name: string; setting: string }>(
          'settings',
          'select lower(name) as name, setting from pg_settings where lower(name) = any($1)',
        ),
        [Object.keys(hostile).map((name) => name.toLowerCase())],
      ),
      send(
        numbered<{ mode: string }>('plans', `select current_setting('plan_cache_mode') as mode`),
      ),
    ]),
  );
  await pipelines.close();
  assert.equal(settings.length, Object.keys(hostile).length);
  for (const [name, value] of Object.entries(hostile)) {
    const sent = settings.find((one) => one.name === name.toLowerCase());
    assert.notEqual(sent?.setting.split(',')[0], value, name);
  }
  assert.equal(plans?.mode, 'force_generic_plan');
});
