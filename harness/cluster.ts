import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../src/store/connection/database.ts';
import { type Embedded, startEmbedded } from '../src/store/embedded.ts';
import { migrate } from '../src/store/migrate.ts';
import { onInterruption } from './interruption.ts';

/** A PostgreSQL in a temporary directory, with a migrated template database. */
export interface Cluster {
  /** Superuser access to the database `postgres`. */
  readonly admin: pg.ClientConfig;
  stop(): Promise<void>;
}

/** The template of each test database. Nobody connects to it, because a connection would prevent copies. */
export const template = 'cueline_template';

/** `settings` are PostgreSQL settings in addition to Cueline's. */
export async function startCluster(
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  await chmod(directory, 0o755);
  const dataDir = join(directory, 'data');
  let embedded = await startEmbedded({ dataDir });
  const stop = async () => {
    await embedded.stop();
    await rm(directory, { recursive: true, force: true });
    ignoreInterruption();
  };
  const ignoreInterruption = onInterruption(stop);
  try {
    // Test files run in parallel, each with a service that has its own connections.
    for (const [name, value] of Object.entries({ max_connections: '500', ...settings })) {
      await runAsAdmin(adminOf(embedded), `alter system set ${name} = '${value}'`);
    }
    await embedded.stop();
    embedded = await startEmbedded({ dataDir });
    const admin = adminOf(embedded);
    await runAsAdmin(admin, `create database ${template} owner ${embedded.connection.user}`);
    await migrateTemplate(embedded.connection);
    await runAsAdmin(admin, `alter database ${template} is_template true allow_connections false`);
    return { admin, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function runAsAdmin(admin: pg.ClientConfig, statement: string): Promise<void> {
  const client = new pg.Client(admin);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Both roles have the same password. */
function adminOf({ connection }: Embedded): pg.ClientConfig {
  return { ...connection, user: 'postgres', database: 'postgres' };
}

async function migrateTemplate(connection: pg.ClientConfig): Promise<void> {
  const onError = () => {};
  const db = openDatabase({
    connection: { ...connection, database: template },
    poolMax: 1,
    onError,
  });
  try {
    await migrate(db);
  } finally {
    await db.destroy();
  }
}
