import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ReadOnlyFailure, StartupFailure, UnsupportedSchema } from '../../core/startup-failure.ts';
import type { Db } from '../database.ts';
import { isInUse, isPermissionDenied, isReadOnly } from '../database-error.ts';
import { sql } from '../sql.ts';
import { up as people } from './0001-people.ts';
import { up as agents } from './0002-agents.ts';
import { up as executions } from './0003-executions.ts';
import { up as history } from './0004-history.ts';
import { up as workflows } from './0005-workflows.ts';
import { up as events } from './0006-events.ts';
import { up as search } from './0007-search.ts';
import { up as liveLists } from './0008-live-lists.ts';
import { up as secrets } from './0009-secrets.ts';
import { up as aliases } from './0010-aliases.ts';
import { up as erasedLabels } from './0011-erased-labels.ts';
import { up as answers } from './0012-answers.ts';
import { up as assistantMessages } from './0013-assistant-messages.ts';
import { up as warnings } from './0014-warnings.ts';
import { up as failedItems } from './0015-failed-items.ts';
import { up as costLimits } from './0016-cost-limits.ts';
import { up as budgets } from './0017-budgets.ts';
import { up as toolLoop } from './0018-tool-loop.ts';
import { up as toolServers } from './0019-tool-servers.ts';
import { up as refusalsWebhooksDrafts } from './0021-refusals-webhooks-drafts.ts';
import { up as runLimits } from './0022-run-limits.ts';
import { up as prices } from './0023-prices.ts';
import { up as runWindows } from './0024-run-windows.ts';

/**
 * Migrations bring the schema up to date, each in one transaction. Many processes may migrate at once: the first takes an
 * advisory lock, the others wait and find nothing to do. The lock belongs to the transaction, because a session lock would
 * stay with the next client of that session behind a transaction pooler.
 *
 * A table that is in use (a dump, for example) is not waited for: every statement of the running servers would queue up
 * behind the wait. The migration gives up after a short lock timeout and is retried until it succeeds.
 *
 * Migrations are append-only: the checksum of each is stored with its name and compared at every start. All are compared
 * before the first is applied. A schema of a newer program, or of a version that cannot be upgraded, is left unchanged and
 * reported as an error.
 */

/**
 * By name, in order; the name is recorded once the migration is committed. A migration sends the same statements to every
 * database, because its checksum is that of their text.
 */
export type Migrations = Readonly<Record<string, (db: Db) => Promise<void>>>;

export const released: Migrations = {
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
  '0013-assistant-messages': assistantMessages,
  '0014-warnings': warnings,
  '0015-failed-items': failedItems,
  '0016-cost-limits': costLimits,
  '0017-budgets': budgets,
  '0018-tool-loop': toolLoop,
  '0019-tool-servers': toolServers,
  '0021-refusals-webhooks-drafts': refusalsWebhooksDrafts,
  '0022-run-limits': runLimits,
  '0023-prices': prices,
  '0024-run-windows': runWindows,
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
    await sql`
      create table if not exists schema_migrations (
        name varchar(255) primary key, timestamp varchar(255) not null, checksum text)`.execute(
      trx,
    );
    const applied = await appliedMigrations(trx);
    const checksums = await checksumsOf(migrations);
    await refuseUnsupported(trx, applied, checksums);
    if (applied.some(({ checksum }) => checksum === null)) await addChecksums(trx, checksums);
    const missing = missingFrom(applied, checksums);
    const due = applied.length === 0 ? missing : missing.slice(0, 1);
    for (const name of due) {
      // Each time: a migration may set its own.
      await sql`set local lock_timeout = '900ms'`.execute(trx);
      await migrations[name]?.(trx);
      await sql`
        insert into schema_migrations (name, timestamp, checksum)
        values (${name}, clock_timestamp()::text, ${checksums.get(name)})`.execute(trx);
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
  const applied = rows[0]?.exists ? await appliedMigrations(db) : [];
  releasedChecksums ??= await checksumsOf(released);
  await refuseUnsupported(db, applied, releasedChecksums);
  const missing = missingFrom(applied, releasedChecksums);
  if (missing.length === 0) return;
  throw new StartupFailure(
    `The database lacks migrations (${missing.join(', ')}). Run "cueline migrate" first.`,
  );
}

/** In the order of their names. */
type Checksums = ReadonlyMap<string, string>;

let releasedChecksums: Checksums | null = null;

/** SHA-256 of the text of the statements that each migration sends. */
export async function checksumsOf(migrations: Migrations): Promise<Checksums> {
  const checksums = new Map<string, string>();
  for (const [name, up] of Object.entries(migrations)) {
    const hash = createHash('sha256');
    const run = async ({ text }: { readonly text: string }) => {
      hash.update(text);
      return { rows: [], rowCount: 0 };
    };
    await up({ run } as unknown as Db);
    checksums.set(name, hash.digest('hex'));
  }
  return checksums;
}

interface AppliedMigration {
  readonly name: string;
  /** Null: applied by a version that stored none. */
  readonly checksum: string | null;
}

async function appliedMigrations(db: Db): Promise<AppliedMigration[]> {
  // A version that stores no checksums has no column for them.
  const { rows } = await sql<AppliedMigration>`
    select name, to_jsonb(m) ->> 'checksum' as checksum from schema_migrations m order by name`.execute(
    db,
  );
  return rows;
}

/** A version that stored none applied them; what it applied is what `isUnsupported` lets pass. */
async function addChecksums(trx: Db, checksums: Checksums): Promise<void> {
  const { rows } = await sql<{ exists: boolean }>`
    select exists (select from pg_attribute
      where attrelid = 'schema_migrations'::regclass and attname = 'checksum') as exists`.execute(
    trx,
  );
  await sql`set local lock_timeout = '900ms'`.execute(trx);
  // Even with "if not exists" it would wait for a dump.
  if (!rows[0]?.exists) await sql`alter table schema_migrations add checksum text`.execute(trx);
  await sql`
    update schema_migrations m set checksum = a.checksum
    from unnest(${[...checksums.keys()]}::text[], ${[...checksums.values()]}::text[]) as a (name, checksum)
    where m.name = a.name and m.checksum is null`.execute(trx);
}

function missingFrom(applied: readonly AppliedMigration[], checksums: Checksums): string[] {
  const names = new Set(applied.map(({ name }) => name));
  return [...checksums.keys()].filter((name) => !names.has(name));
}

/** Throws unless what was applied is a beginning of this program's migrations. */
async function refuseUnsupported(
  db: Db,
  applied: readonly AppliedMigration[],
  checksums: Checksums,
): Promise<void> {
  const isTrusted = applied.length > 0 && applied.every(({ checksum }) => checksum !== null);
  if (!isTrusted && (await isUnsupported(db, applied.length === 0))) {
    throw new UnsupportedSchema('it was written by an earlier version');
  }
  const missing = missingFrom(applied, checksums);
  const unknown = applied.filter(({ name }) => !checksums.has(name)).map(({ name }) => name);
  if (unknown.length > 0 && missing.length === 0) {
    throw new StartupFailure(
      `The database was written by a newer Cueline (it has ${unknown.join(', ')}). Start that version, or a later one.`,
    );
  }
  const changed = applied.filter(
    ({ name, checksum }) => checksum !== null && checksum !== (checksums.get(name) ?? checksum),
  );
  const last = applied.at(-1)?.name ?? '';
  const reasons = [
    [unknown, 'it has migrations that this version does not know'],
    [changed.map(({ name }) => name), 'its migrations differ from those of this version'],
    [missing.filter((name) => name < last), 'it lacks migrations before those that it has'],
  ] as const;
  for (const [names, reason] of reasons) {
    if (names.length > 0) throw new UnsupportedSchema(`${reason} (${names.join(', ')})`);
  }
}

/**
 * Whether a version that stored no checksums wrote other migrations under the names of these: until commit 0793ab16 they were
 * edited in place. Before the first release the queue had another name; later, each edited file gained one of these tables.
 */
async function isUnsupported(db: Db, isEmpty: boolean): Promise<boolean> {
  const gained = isEmpty ? [] : ['saved_views', 'batches', 'recent_writes', 'alerts'];
  const { rows } = await sql<{ old: boolean }>`
    select to_regclass('run_queue') is not null or exists (
      select from unnest(${gained}::text[]) as name where to_regclass(name) is null) as old`.execute(
    db,
  );
  return rows[0]?.old ?? false;
}
