import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { debianPostgres } from '../../harness/debian-postgres.ts';
import { numbered, testPipelines } from '../../harness/pipelines.ts';
import { type Replication, startReplication } from '../../harness/replication.ts';
import { parseDatabaseUrl, tryConnect } from '../../src/db/connect.ts';
import { type Db, inTransaction, openDatabase } from '../../src/db/database.ts';
import { DatabaseUnavailable, isUnavailable } from '../../src/db/database-error.ts';
import { detectPooler } from '../../src/db/detect-pooler.ts';
import { sql } from '../../src/db/sql.ts';

/** Connections to a primary and its standby, which change roles at the end. */

const bin = debianPostgres();
const skip = bin === null && 'no PostgreSQL is installed: apt-get install postgresql';

let servers: Replication;
before(async () => {
  if (bin !== null) servers = await startReplication(bin);
});
after(() => servers?.stop());

async function nameOf(db: Db): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select current_setting('cluster_name') as name`.execute(db);
  return rows[0]?.name ?? '';
}

async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await wait(20);
}

async function withDatabase(url: string, work: (db: Db) => Promise<void>): Promise<void> {
  const connection = parseDatabaseUrl(url);
  const db = openDatabase({ connection, poolMax: 3, onError: () => {} });
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}

const reversed = (url: string) => {
  const hosts = new URLSearchParams(url.split('?')[1]).get('host') ?? '';
  const others = hosts.split(',').reverse().join(',');
  return url.replace(encodeURIComponent(hosts), encodeURIComponent(others));
};

test('of several hosts the one with the wanted sessions is used, in any order', {
  skip,
}, async () => {
  const cases = [
    [servers.url(), 'primary'],
    [servers.url('target_session_attrs=read-write'), 'primary'],
    [servers.url('target_session_attrs=primary'), 'primary'],
    [servers.url('target_session_attrs=standby'), 'standby'],
    [servers.url('target_session_attrs=read-only'), 'standby'],
    [servers.url('target_session_attrs=prefer-standby'), 'standby'],
  ] as const;
  for (const [url, name] of cases) {
    for (const either of [url, reversed(url)]) {
      await withDatabase(either, async (db) => {
        assert.equal(await nameOf(db), name, either);
      });
    }
  }
});

test('a standby alone is reported as no primary, with the reason', { skip }, async () => {
  const url = `${servers.standby.url}&target_session_attrs=read-write`;
  const refusal = await tryConnect(parseDatabaseUrl(url));
  assert.ok(refusal instanceof DatabaseUnavailable);
  assert.match(
    refusal.message,
    /^none of the servers serves read-write sessions \(.+ is a standby\)/,
  );
});

test('a commit that no standby has confirmed is not reported as done', { skip }, async () => {
  const { primary, standby } = servers;
  const wait = `alter system set synchronous_standby_names = '*'`;
  await standby.kill();
  await primary.query(wait);
  await primary.query('select pg_reload_conf()');
  try {
    const connection = parseDatabaseUrl(primary.url);
    const db = openDatabase({ connection, poolMax: 1, onError: () => {} });
    try {
      const write = inTransaction(db, (trx) =>
        sql`insert into limits (subject) values (gen_random_uuid())`.execute(trx),
      );
      const rejected = assert.rejects(write, (error) => isUnavailable(error));
      await until(async () => {
        const waits = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
        return (await primary.query(waits)).length > 0;
      });
      await rejected;
    } finally {
      await db.destroy();
    }
  } finally {
    await primary.query('alter system reset synchronous_standby_names');
    await primary.query('select pg_reload_conf()');
    await standby.start();
  }
});

test('a standby is used again after the primary stood in for it', { skip }, async () => {
  const { primary, standby } = servers;
  await withDatabase(servers.url('target_session_attrs=prefer-standby'), async (db) => {
    assert.equal(await nameOf(db), 'standby');
    await standby.kill();
    await until(async () => (await nameOf(db).catch(() => '')) === 'primary');
    await standby.start();
    await primary.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'cueline'`,
    );
    await until(async () => (await nameOf(db).catch(() => '')) === 'standby');
    assert.equal(await nameOf(db), 'standby');
  });
});

test('pools and pipelines find the new primary after a failover', { skip }, async () => {
  const connection = await detectPooler(parseDatabaseUrl(servers.url()));
  const db = openDatabase({ connection, poolMax: 3, onError: () => {} });
  const pipelines = testPipelines(connection, 3);
  const read = numbered<{ name: string }>('read', `select current_setting('cluster_name') as name`);
  const throughPipeline = () => pipelines.use((send) => send(read)).then(([row]) => row?.name);
  try {
    assert.deepEqual([await nameOf(db), await throughPipeline()], ['primary', 'primary']);
    await servers.primary.kill();
    await assert.rejects(nameOf(db), (error) => isUnavailable(error));
    await assert.rejects(throughPipeline(), (error) => isUnavailable(error));
    await servers.standby.promote();
    assert.deepEqual([await nameOf(db), await throughPipeline()], ['standby', 'standby']);
  } finally {
    await pipelines.close();
    await db.destroy();
  }
});

test('a primary that was replaced meanwhile is not used again', { skip }, async () => {
  const { primary, standby } = servers;
  await standby.kill();
  await primary.start();
  const connection = await detectPooler(parseDatabaseUrl(servers.url()));
  const pipelines = testPipelines(connection, 2);
  const db = openDatabase({ connection, poolMax: 2, onError: () => {} });
  try {
    // In flight until it is aborted.
    const sleep = numbered('sleep', 'select pg_sleep(600)');
    const inFlight = [
      sql`select pg_sleep(600)`.execute(db),
      pipelines.use((send) => send(sleep), 600_000),
    ].map((read) => assert.rejects(read, /another server is the primary now/));
    assert.equal(await nameOf(db), 'primary');
    await standby.start();
    await primary.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'cueline' and state = 'idle'`,
    );
    await until(async () => (await nameOf(db).catch(() => '')) === 'standby');
    await Promise.all(inFlight);
    for (const url of [servers.url(), reversed(servers.url())]) {
      await withDatabase(url, async (other) => assert.equal(await nameOf(other), 'standby', url));
    }
  } finally {
    await pipelines.close();
    await db.destroy();
  }
});
