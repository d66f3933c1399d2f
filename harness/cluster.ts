import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../src/db/database.ts';
import { type Embedded, startEmbedded } from '../src/db/embedded/embedded.ts';
import { migrate } from '../src/db/migrations/migrate.ts';
import { onInterruption } from './interruption.ts';
import { startVolatile } from './volatile-postgres.ts';

/** A PostgreSQL in a temporary directory, with a migrated template database. */
export interface Cluster {
  /** Superuser access to the database `postgres`. */
  readonly admin: pg.ClientConfig;
  stop(): Promise<void>;
}

/** The template of each test database. Nobody connects to it, because a connection would prevent copies. */
export const template = 'cueline_template';

export interface ClusterOptions {
  /** Like the embedded PostgreSQL of a server. Otherwise nothing is written for the case of a crash. */
  readonly durable?: boolean;
  /** PostgreSQL settings in addition to Cueline's. */
  readonly settings?: Readonly<Record<string, string>>;
}

export async function startCluster({
  durable = false,
  settings = {},
}: ClusterOptions = {}): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  await chmod(directory, 0o755);
  const dataDir = join(directory, 'data');
  let embedded: Pick<Embedded, 'connection' | 'stop'> = await startEmbedded({ dataDir });
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
    embedded = durable
      ? await startEmbedded({ dataDir })
      : await startVolatile(join(dataDir, 'postgres'), embedded.connection);
    const admin = adminOf(embedded);
    if (!durable) await cheapenSignIns(admin);
    await runAsAdmin(admin, `create database ${template} owner ${embedded.connection.user}`);
    await migrateTemplate(embedded.connection);
    if (!durable) await cleanCatalog({ ...admin, database: template });
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
function adminOf({ connection }: Pick<Embedded, 'connection'>): pg.ClientConfig {
  return { ...connection, user: 'postgres', database: 'postgres' };
}

/** Otherwise each new connection hashes its password thousands of times. */
async function cheapenSignIns(admin: pg.ClientConfig): Promise<void> {
  const password = pg.escapeLiteral(String(admin.password));
  const roles = ['postgres', 'cueline'].map((role) => `alter role ${role} password ${password};`);
  await runAsAdmin(admin, `set scram_iterations = 1; ${roles.join(' ')}`);
}

/** What one connection does here, the connections of each copy need not: the next one writes a cache of the catalog. */
async function cleanCatalog(admin: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(admin);
  await client.connect();
  const { rows } = await client.query<{ names: string }>(`
    select string_agg(oid::regclass::text, ', ') as names from pg_class
    where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and not relisshared`);
  await client.query(`vacuum (full, freeze, analyze) ${rows[0]?.names}`);
  await client.end();
  await runAsAdmin(admin, 'select from pg_class');
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
