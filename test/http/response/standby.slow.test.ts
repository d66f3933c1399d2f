import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addAgent, run, type TestAgent } from '../../../harness/agents.ts';
import { debianPostgres } from '../../../harness/debian-postgres.ts';
import { type Replication, startReplication } from '../../../harness/replication.ts';
import { type Service, startService } from '../../../harness/service.ts';

/** Reads from a standby whose replay is paused: what it serves lacks what was written since. */

const bin = debianPostgres();
const skip = bin === null && 'no PostgreSQL is installed: apt-get install postgresql';

let servers: Replication;
/** Accepts a standby of any age, and another process that does too. */
let service: Service;
let other: Service;
/** Accepts hardly any lag. */
let strict: Service;
let agent: TestAgent;
let reader: string;
let writer: string;

before(async () => {
  if (bin === null) return;
  servers = await startReplication(bin);
  const { primary, standby } = servers;
  const database = { connection: primary.connection, drop: async () => {} };
  const patient = {
    readConnection: standby.connection,
    config: { leaseMs: 60_000, readLagMs: 600_000 },
  };
  service = await startService({ ...patient, database });
  const shared = { sharedWith: service, role: 'api' } as const;
  other = await startService({ ...patient, ...shared });
  const config = { leaseMs: 60_000, readLagMs: 500 };
  strict = await startService({ ...patient, ...shared, config });
  agent = await addAgent(service);
  reader = (await service.key()).key;
  writer = (await service.key()).key;
  await run(service, agent, writer);
});
after(async () => {
  await strict?.close();
  await other?.close();
  await service?.close();
  await servers?.stop();
});

const agentPath = () => agent.path.replace('/v1', '');
const list = (at: Service, key: string, query = '') =>
  at.call('GET', `${agentPath()}/executions${query}`, { key });
const total = async (at: Service, key: string) =>
  (await list(at, key)).body.pagination.total as number;

async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await wait(50);
}

describe('while the replay of the standby is paused', { skip }, () => {
  let asOf = '';
  let processing = '';

  before(async () => {
    if (bin === null) return;
    // The standby shows the first record, and its age is known.
    await until(async () => {
      const { headers, body } = await list(service, reader);
      asOf = headers.get('cueline-data-as-of') ?? '';
      return body.pagination.total === 1 && asOf !== '';
    });
    await servers.standby.query('select pg_wal_replay_pause()');
    await until(async () => {
      const [row] = await servers.standby.query<{ state: string }>(
        'select pg_get_wal_replay_pause_state() as state',
      );
      return row?.state === 'paused';
    });
    await run(service, agent, writer);
    const held = service.models.hold();
    const body = { variables: { name: 'held' } };
    const accepted = await service.call('POST', `${agent.path}/execute`, { key: writer, body });
    processing = accepted.body.statusUrl;
    await held.arrived;
  });
  after(() => servers?.standby.query('select pg_wal_replay_resume()'));

  test('lists, statistics and exports of others are as old as the header says', async () => {
    const { status, headers, body } = await list(service, reader);
    assert.equal(status, 200);
    assert.equal(body.pagination.total, 1);
    const shown = headers.get('cueline-data-as-of') ?? '';
    assert.ok(shown >= asOf, `${shown} is before ${asOf}`);
    const [record] = (await list(service, writer)).body.executions;
    assert.ok(shown < record.executedAt, `${shown} is after ${record.executedAt}`);

    const search = await list(service, reader, '?q=hello');
    assert.equal(search.body.pagination.total, 1);
    const statistics = await service.call('GET', `${agent.path}/statistics?level=day`, {
      key: reader,
    });
    assert.equal(statistics.body.buckets[0].count, 1);
    assert.ok(statistics.headers.get('cueline-data-as-of'));
    const exported = await exportOf(service, reader);
    assert.equal(exported.lines, 1);
    assert.ok(exported.asOf);
  });

  test('a caller that wrote reads its own writes, in every process', async () => {
    for (const at of [service, other]) {
      const { headers, body } = await list(at, writer);
      assert.equal(body.pagination.total, 2);
      const [{ executedAt }] = body.executions;
      assert.ok((headers.get('cueline-data-as-of') ?? '') >= executedAt);
      assert.equal((await exportOf(at, writer)).lines, 2);
    }
  });

  test('status, waits and include=processing come from the primary', async () => {
    const status = await service.call('GET', processing, { key: reader });
    assert.equal(status.body.status, 'processing');
    const waited = await service.call('GET', `${processing}?wait=1`, { key: reader });
    assert.equal(waited.body.status, 'processing');
    const all = await list(service, reader, '?include=processing');
    assert.equal(all.body.pagination.total, 3);
    assert.equal(all.body.executions[0].status, 'processing');
  });

  test('beyond the limit of the lag the primary serves', async () => {
    await until(async () => (await total(strict, reader)) === 2);
    assert.equal((await exportOf(strict, reader)).lines, 2);
    assert.equal(await total(service, reader), 1);
  });
});

test('a standby that follows again serves again', { skip }, async () => {
  await until(async () => (await total(service, reader)) === 2);
});

test('a caller that changed something with a session reads its own change', { skip }, async () => {
  await servers.standby.query('select pg_wal_replay_pause()');
  const user = service.ownerId;
  const seen = await service.call('GET', '/api/v1/audit', { user });
  assert.equal(seen.status, 200);
  const body = { name: 'New', agentIds: null, permissions: ['read'] };
  const created = await service.call('POST', '/api/v1/keys', { user, body });
  assert.equal(created.status, 201);
  const found = await service.call('GET', '/api/v1/audit', { user });
  const age = Date.parse(found.headers.get('cueline-data-as-of') ?? '');
  assert.ok(age >= Date.parse(seen.headers.get('cueline-data-as-of') ?? ''));
  assert.ok(found.body.pagination.total > seen.body.pagination.total);
  await servers.standby.query('select pg_wal_replay_resume()');
});

test('without the standby the primary serves', { skip }, async () => {
  await servers.standby.kill();
  assert.equal(await total(service, reader), 2);
  assert.equal((await exportOf(service, reader)).lines, 2);
  // Its loss is reported.
  assert.ok(service.faults.splice(0).length > 0);
  for (const one of [other, strict]) one.faults.splice(0);
});

async function exportOf(at: Service, key: string) {
  const response = await fetch(`${at.url}${agent.path}/executions/export`, {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(response.status, 200);
  const lines = (await response.text()).trimEnd().split('\n').length;
  return { lines, asOf: response.headers.get('cueline-data-as-of') };
}
