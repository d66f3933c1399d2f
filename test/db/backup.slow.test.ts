import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type pg from 'pg';
import { runAsAdmin } from '../../harness/cluster.ts';
import { type DebianServer, debianPostgres, startDebian } from '../../harness/debian-postgres.ts';
import { firstHundred, makeHistory, type RandomHistory } from '../../harness/history.ts';
import { type Db, openDatabase } from '../../src/db/database.ts';
import { inSnapshot } from '../../src/db/in-snapshot.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { sql } from '../../src/db/sql.ts';
import { runAll } from '../../src/engine/transaction/paced-transactions.ts';
import { isFloorSettled } from '../../src/features/history/statements/months.ts';
import { listExecutions } from '../../src/features/history/verbs/list-executions.ts';
import { maintenanceJobs } from '../../src/process/background-jobs.ts';

/** Runs the backup commands of docs/operations/back-up-and-upgrade.md on the PostgreSQL of the operating system, which also tests that version. */

const run = promisify(execFile);
const bin = debianPostgres();
const skip = bin === null && 'no PostgreSQL is installed: apt-get install postgresql';

let server: DebianServer;
let original: Db;
let made: RandomHistory;

before(async () => {
  if (bin === null) return;
  server = await startDebian(bin);
  original = open(server.connection);
  await migrate(original);
  made = await makeHistory(original, 5_000);
  await sql`update history_floor set moved_by = '999999999999'`.execute(original);
});
after(async () => {
  await original?.destroy();
  await server?.stop();
});

function open(connection: pg.ClientConfig): Db {
  return openDatabase({ connection, poolMax: 2, onError: () => {} });
}

test('a restored dump contains the same history with the same counts', { skip }, async () => {
  const { connection, directory, admin } = server;
  const program = (name: string) => join(bin ?? '', name);
  const file = join(directory, 'cueline.dump');
  const env = environmentOf(connection);
  await run(program('pg_dump'), ['--format=custom', '--no-owner', '--file', file], { env });
  await runAsAdmin(admin, `create database restored owner cueline`);
  const target = { ...connection, database: 'restored' };
  const args = ['--no-owner', '--exit-on-error', '--dbname', 'restored', file];
  await run(program('pg_restore'), args, { env });

  const restored = open(target);
  try {
    // No migration is missing, and future partitions exist.
    await migrate(restored);
    await runAll(maintenanceJobs(restored));
    assert.deepEqual(await tablesOf(restored), await tablesOf(original));
    assert.deepEqual(await counts(restored), await counts(original));
    for (const agentId of made.agentIds) {
      for (const offset of [0, 2_000]) {
        const request = { ...firstHundred([agentId]), offset };
        const page = await listExecutions(restored, request);
        assert.ok(offset > 0 || page.rows.length > 0);
        assert.deepEqual(page, await listExecutions(original, request));
      }
    }
    // Transaction ids of the original server are meaningless in another server.
    await inSnapshot(restored, async (trx) => {
      await sql`select from history_floor`.execute(trx);
      assert.ok(await isFloorSettled(restored));
    });
  } finally {
    await restored.destroy();
  }
});

function environmentOf({ host, port, user, password, database }: pg.ClientConfig) {
  return {
    PATH: '/usr/bin:/bin',
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: String(password),
    PGDATABASE: database,
  };
}

async function tablesOf(db: Db): Promise<unknown[]> {
  const { rows } = await sql`
    select relname::text as name, relkind::text as kind from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'i', 'I')
    order by relname`.execute(db);
  return rows;
}

/** The number of rows and a digest of each table. */
async function counts(db: Db): Promise<unknown[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by relname`.execute(db);
  const found: unknown[] = [];
  for (const { name } of tables) {
    const { rows } = await sql`
      select count(*) as rows, md5(string_agg(t::text, ' ' order by t::text)) as digest
      from ${sql.table(name)} t`.execute(db);
    found.push({ name, ...(rows[0] as object) });
  }
  return found;
}
