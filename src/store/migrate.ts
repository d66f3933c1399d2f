import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { StartFailure } from '../core/start-failure.ts';
import type { Db } from './db.ts';
import { up as people } from './migrations/0001-people.ts';
import { up as agents } from './migrations/0002-agents.ts';
import { up as executions } from './migrations/0003-executions.ts';

/** In order. A migration that has been released is never changed; a new one is added. */
const migrations: Record<string, Migration> = {
  '0001-people': { up: people },
  '0002-agents': { up: agents },
  '0003-executions': { up: executions },
};

/**
 * Brings the schema up to date. Many processes may call it at once: the first takes a lock, the rest wait and find
 * nothing to do. A schema that a newer program has written is left alone, and an error.
 * @param db should set its statements no time: a migration takes as long as it takes
 */
export async function migrate(db: Db): Promise<void> {
  await refuseNewer(db);
  const { error } = await migrator(db).migrateToLatest();
  if (error) throw error;
}

/** Throws unless the schema is exactly the one of this program. */
export async function checkSchema(db: Db): Promise<void> {
  await refuseNewer(db);
  const missing = (await migrator(db).getMigrations()).filter((one) => !one.executedAt);
  if (missing.length === 0) return;
  const names = missing.map((one) => one.name).join(', ');
  throw new StartFailure(`The database lacks migrations (${names}). Run "cueline migrate" first.`);
}

async function refuseNewer(db: Db): Promise<void> {
  const { rows: tables } = await sql<{ there: boolean }>`
    select to_regclass('schema_migrations') is not null as there`.execute(db);
  if (!tables[0]?.there) return;
  const { rows } = await sql<{ name: string }>`
    select name from schema_migrations order by name`.execute(db);
  const unknown = rows.filter((row) => !(row.name in migrations)).map((row) => row.name);
  if (unknown.length === 0) return;
  throw new StartFailure(
    `The database was written by a newer Cueline (it has ${unknown.join(', ')}). Start that version, or a later one.`,
  );
}

function migrator(db: Db): Migrator {
  return new Migrator({
    db: db.withoutPlugins(),
    provider: { getMigrations: async () => migrations },
    migrationTableName: 'schema_migrations',
    migrationLockTableName: 'schema_migrations_lock',
  });
}
