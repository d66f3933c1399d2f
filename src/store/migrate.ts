import { setTimeout as delay } from 'node:timers/promises';
import { ReadOnlyFailure, StartupFailure } from '../core/startup-failure.ts';
import type { Db } from '../db/database.ts';
import { isInUse, isPermissionDenied, isReadOnly } from '../db/database-error.ts';
import { sql } from '../db/sql.ts';
import { up as people } from './migrations/0001-people.ts';
import { up as agents } from './migrations/0002-agents.ts';
import { up as executions } from './migrations/0003-executions.ts';
import { up as history } from './migrations/0004-history.ts';
import { up as workflows } from './migrations/0005-workflows.ts';
import { up as events } from './migrations/0006-events.ts';
import { up as search } from './migrations/0007-search.ts';
import { up as liveLists } from './migrations/0008-live-lists.ts';
import { up as secrets } from './migrations/0009-secrets.ts';
import { up as aliases } from './migrations/0010-aliases.ts';
import { up as erasedLabels } from './migrations/0011-erased-labels.ts';
import { up as answers } from './migrations/0012-answers.ts';

/**
 * Migrations bring the schema up to date, each in one transaction. Many processes may migrate at once: the first takes an
 * advisory lock, the others wait and find nothing to do. The lock belongs to the transaction, because a session lock would
 * stay with the next client of that session behind a transaction pooler.
 *
 * A table that is in use (a dump, for example) is not waited for: every statement of the running servers would queue up
 * behind the wait. The migration gives up after a short lock timeout and is retried until it succeeds.
 *
 * A schema of a newer program, or of a development version, is left unchanged and reported as an error.
 */

/** By name, in order; the name is recorded once the migration is committed. */
export type Migrations = Readonly<Record<string, (db: Db) => Promise<void>>>;

const released: Migrations = {
  '0001-people': people,
  '0002-agents': agents,
  '0003-executions': executions,
  '0004-history': history,
  '0005-workflows': workflows,
  '0006-events': events,
  '0007-search': search,
  '0008-live-lists': liveLists,
  '0009-secrets': secrets,
  '0010-aliases': aliases,
  '0011-erased-labels': erasedLabels,
  '0012-answers': answers,
};

/** The advisory lock that serializes migrations. */
const migrationLock = 7_315_202_611;

/** Between two tries, so that the table's users and the statements queued behind them can proceed. */
const retryDelayMs = 2_000;
const reportEveryMs = 30_000;

export interface MigrateOptions {
  /** Aborts the wait between two tries. */
  readonly signal?: AbortSignal;
  /** Called on the first failed try, then every half minute, while a table is in use. */
  readonly onWait?: () => void;
  /** Defaults to the migrations of this program. */
  readonly migrations?: Migrations;
}

/**
 * Applies the missing migrations.
 * @param db must not time out its statements: a migration takes as long as it takes
 * @throws {StartupFailure} for a schema that this program cannot use, {ReadOnlyFailure} for a read-only database
 */
export async function migrate(db: Db, options: MigrateOptions = {}): Promise<void> {
  const { signal, onWait, migrations = released } = options;
  let reportedAt = Number.NEGATIVE_INFINITY;
  let waitMs = 0;
  for (;;) {
    try {
      if (await migrateSome(db, migrations, () => delay(waitMs, undefined, { signal }))) return;
      waitMs = 0;
    } catch (error) {
      if (isReadOnly(error)) throw new ReadOnlyFailure({ cause: error });
      if (isPermissionDenied(error)) throw permissionFailure(error);
      if (!isInUse(error)) throw error;
      waitMs = retryDelayMs;
      const now = performance.now();
      if (now - reportedAt < reportEveryMs) continue;
      reportedAt = now;
      onWait?.();
    }
  }
}

/** Applies all migrations to an empty database, the first missing one to any other. Returns whether none is left. */
function migrateSome(db: Db, migrations: Migrations, wait: () => Promise<void>): Promise<boolean> {
  // Each statement must see what was committed while the previous one waited for the lock.
  return db.transaction(async (trx) => {
    // The role may have timeouts of its own.
    await sql`set local statement_timeout = 0`.execute(trx);
    await sql`set local lock_timeout = 0`.execute(trx);
    await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(trx);
    // Under the lock: otherwise, of many processes that start at once, one would always be trying.
    await wait();
    await refuseDevelopmentSchema(trx);
    await sql`
      create table if not exists schema_migrations (
        name varchar(255) primary key, timestamp varchar(255) not null)`.execute(trx);
    const applied = await appliedMigrations(trx);
    refuseNewer(applied, migrations);
    const missing = missingFrom(applied, migrations);
    const due = applied.length === 0 ? missing : missing.slice(0, 1);
    for (const name of due) {
      // Each time: a migration may set its own.
      await sql`set local lock_timeout = '900ms'`.execute(trx);
      await migrations[name]?.(trx);
      await sql`
        insert into schema_migrations (name, timestamp)
        values (${name}, clock_timestamp()::text)`.execute(trx);
    }
    return due.length === missing.length;
  });
}

function permissionFailure(cause: Error): StartupFailure {
  return new StartupFailure(
    `The database role may not migrate the schema (${cause.message}): connect as the owner of the schema and its tables, or grant that role to this one.`,
    { cause },
  );
}

/** Throws unless the schema is exactly that of this program and the database is writable. */
export async function checkSchema(db: Db): Promise<void> {
  // On a standby every transaction is read-only, whatever the setting says.
  const { rows } = await sql<{ exists: boolean; readOnly: boolean }>`
    select to_regclass('schema_migrations') is not null as exists,
      current_setting('transaction_read_only')::boolean as read_only`.execute(db);
  if (rows[0]?.readOnly) throw new ReadOnlyFailure();
  await refuseDevelopmentSchema(db);
  const applied = rows[0]?.exists ? await appliedMigrations(db) : [];
  refuseNewer(applied, released);
  const missing = missingFrom(applied, released);
  if (missing.length === 0) return;
  throw new StartupFailure(
    `The database lacks migrations (${missing.join(', ')}). Run "cueline migrate" first.`,
  );
}

async function appliedMigrations(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from schema_migrations order by name`.execute(db);
  return rows.map(({ name }) => name);
}

function missingFrom(applied: readonly string[], migrations: Migrations): string[] {
  return Object.keys(migrations).filter((name) => !applied.includes(name));
}

/** Before the first release the queue had another name; such a schema has no upgrade path. */
async function refuseDevelopmentSchema(db: Db): Promise<void> {
  const { rows } = await sql<{ old: boolean }>`
    select to_regclass('run_queue') is not null as old`.execute(db);
  if (!rows[0]?.old) return;
  throw new StartupFailure(
    'The database was created by a development version of Cueline and cannot be upgraded: start over with an empty database, or delete the data directory (.cueline).',
  );
}

function refuseNewer(applied: readonly string[], migrations: Migrations): void {
  const unknown = applied.filter((name) => !(name in migrations));
  if (unknown.length === 0) return;
  throw new StartupFailure(
    `The database was written by a newer Cueline (it has ${unknown.join(', ')}). Start that version, or a later one.`,
  );
}
