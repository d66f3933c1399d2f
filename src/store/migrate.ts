import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { ReadOnlyFailure, StartFailure } from '../core/startup-failure.ts';
import type { Db } from './connection/database.ts';
import { isInUse, isReadOnly } from './connection/database-error.ts';
import { up as people } from './migrations/0001-people.ts';
import { up as agents } from './migrations/0002-agents.ts';
import { up as executions } from './migrations/0003-executions.ts';
import { up as history } from './migrations/0004-history.ts';
import { up as workflows } from './migrations/0005-workflows.ts';
import { up as generatedPasswords } from './migrations/0006-generated-passwords.ts';
import { up as runsOfVersions } from './migrations/0007-runs-of-versions.ts';
import { up as scheduleErrors } from './migrations/0008-schedule-errors.ts';
import { up as folded } from './migrations/0009-folded.ts';
import { up as attemptsByTime } from './migrations/0010-attempts-by-time.ts';
import { up as orderOfDefinitions } from './migrations/0011-order-of-definitions.ts';
import { up as unknownCosts } from './migrations/0012-unknown-costs.ts';
import { up as promoted } from './migrations/0013-promoted.ts';

/** In order. A migration that has been released is never changed; a new one is added. */
const migrations: Record<string, { up(db: Kysely<never>): Promise<void> }> = {
  '0001-people': { up: people },
  '0002-agents': { up: agents },
  '0003-executions': { up: executions },
  '0004-history': { up: history },
  '0005-workflows': { up: workflows },
  '0006-generated-passwords': { up: generatedPasswords },
  '0007-runs-of-versions': { up: runsOfVersions },
  '0008-schedule-errors': { up: scheduleErrors },
  '0009-folded': { up: folded },
  '0010-attempts-by-time': { up: attemptsByTime },
  '0011-order-of-definitions': { up: orderOfDefinitions },
  '0012-unknown-costs': { up: unknownCosts },
  '0013-promoted': { up: promoted },
};

/** Any number that nothing else locks: migrations go one after the other. */
const migrationLock = 7_315_202_611;

/** For whoever made them wait to let go, and for all who queued up behind them to get through. */
const pauseMs = 2_000;
const everyWordMs = 30_000;

export interface MigrateOptions {
  /** Ends the wait between two tries. */
  readonly signal?: AbortSignal;
  /** Told at first and then every half minute that somebody holds what a migration needs for itself. */
  readonly onWait?: () => void;
}

/**
 * Brings the schema up to date, one migration after the other, each of them or nothing of it. Many processes may call it
 * at once: the first takes a lock, the rest wait and find nothing to do. A schema that a newer program has written is left
 * alone, and an error. A table that is in use, as by a dump, is not waited for: all who serve would queue up behind the
 * wait. It is tried again and again instead, for as long as it takes.
 * @param db should give its statements all the time: a migration takes as long as it takes
 */
export async function migrate(db: Db, { signal, onWait }: MigrateOptions = {}): Promise<void> {
  let wordAt = Number.NEGATIVE_INFINITY;
  let restMs = 0;
  for (;;) {
    try {
      if (await migrateSome(db, () => delay(restMs, undefined, { signal }))) return;
      restMs = 0;
    } catch (error) {
      if (isReadOnly(error)) throw new ReadOnlyFailure({ cause: error });
      if (!isInUse(error)) throw error;
      restMs = pauseMs;
      const now = performance.now();
      if (now - wordAt < everyWordMs) continue;
      wordAt = now;
      onWait?.();
    }
  }
}

/**
 * Makes what is missing of an empty database, of any other the first one that is missing; answers whether nothing is.
 * The lock is the transaction's own: one of the session would stay with whoever has the session next, behind a pooler.
 */
function migrateSome(db: Db, rest: () => Promise<void>): Promise<boolean> {
  // Each statement must see what was committed while the one before waited for the lock.
  const transaction = db.transaction().setIsolationLevel('read committed');
  return transaction.execute(async (trx) => {
    // The role may have timeouts of its own.
    await sql`set local statement_timeout = 0`.execute(trx);
    await sql`set local lock_timeout = 0`.execute(trx);
    await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(trx);
    // Under the lock, or of many that start at once there would always be one that tries.
    await rest();
    await sql`
      create table if not exists schema_migrations (
        name varchar(255) primary key, timestamp varchar(255) not null)`.execute(trx);
    const names = await executed(trx);
    refuseNewer(names);
    const lacking = missing(names);
    const due = names.length === 0 ? lacking : lacking.slice(0, 1);
    for (const name of due) {
      // Each time: a migration may have set its own.
      await sql`set local lock_timeout = '900ms'`.execute(trx);
      await migrations[name]?.up(trx as unknown as Kysely<never>);
      await sql`
        insert into schema_migrations (name, timestamp)
        values (${name}, clock_timestamp()::text)`.execute(trx);
    }
    return due.length === lacking.length;
  });
}

/** Throws unless the schema is exactly the one of this program, and can be written to. */
export async function checkSchema(db: Db): Promise<void> {
  // Of a standby every transaction is read-only, whatever it is set to.
  const { rows } = await sql<{ there: boolean; readOnly: boolean }>`
    select to_regclass('schema_migrations') is not null as there,
      current_setting('transaction_read_only')::boolean as read_only`.execute(db);
  if (rows[0]?.readOnly) throw new ReadOnlyFailure();
  const names = rows[0]?.there ? await executed(db) : [];
  refuseNewer(names);
  const lacking = missing(names);
  if (lacking.length === 0) return;
  throw new StartFailure(
    `The database lacks migrations (${lacking.join(', ')}). Run "cueline migrate" first.`,
  );
}

async function executed(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from schema_migrations order by name`.execute(db);
  return rows.map(({ name }) => name);
}

function missing(names: readonly string[]): string[] {
  return Object.keys(migrations).filter((name) => !names.includes(name));
}

function refuseNewer(names: readonly string[]): void {
  const unknown = names.filter((name) => !(name in migrations));
  if (unknown.length === 0) return;
  throw new StartFailure(
    `The database was written by a newer Cueline (it has ${unknown.join(', ')}). Start that version, or a later one.`,
  );
}
