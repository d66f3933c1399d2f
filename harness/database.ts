import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { openDatabase } from '../src/db/database.ts';
import {
  type Cluster,
  type ClusterOptions,
  runAsAdmin,
  startCluster,
  template,
} from './cluster.ts';

/** A fresh database. */
export interface TestDatabase {
  readonly connection: pg.ClientConfig;
  drop(): Promise<void>;
}

/** Longer than anything takes on a slow machine: a test that waits for a free connection is not a fault. */
const connectTimeoutMs = 120_000;
/** The statement timeout of a test's own statements, which fill tables: a slow machine takes longer than the default of the service. */
export const statementMsMax = 120_000;
const sharedVariable = 'CUELINE_TEST_POSTGRES';

/**
 * Starts a PostgreSQL that this process shares with its later child processes. A test run inside another one shares the
 * other's.
 */
export async function shareCluster(options?: ClusterOptions): Promise<Cluster> {
  const shared = process.env[sharedVariable];
  if (shared && !options) return { admin: JSON.parse(shared), stop: async () => {} };
  const cluster = await startCluster(options);
  process.env[sharedVariable] = JSON.stringify(cluster.admin);
  return cluster;
}

/** Without a shared PostgreSQL, a process starts its own and stops it after its last database. */
let own: Promise<Cluster> | null = null;
let databases = 0;

export interface TestDatabaseOptions {
  /** Leaves the migrations to the service that starts on it, which may be of another version. */
  readonly isEmpty?: boolean;
}

export async function createTestDatabase({
  isEmpty = false,
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  databases++;
  const admin = await findAdmin();
  const name = `test_${randomBytes(8).toString('hex')}`;
  // The default strategy copies each page through the write-ahead log and takes five times as long.
  const copied = `template ${isEmpty ? 'template0' : template} strategy file_copy`;
  await runAsAdmin(admin, `create database ${name} ${copied} owner cueline`);
  return {
    // A slow machine can take longer than the five seconds that the service waits by default.
    connection: {
      ...admin,
      user: 'cueline',
      database: name,
      connectionTimeoutMillis: connectTimeoutMs,
    },
    async drop() {
      await runAsAdmin(admin, `drop database ${name} with (force)`);
      if (--databases > 0 || own === null) return;
      const { stop } = await own;
      own = null;
      await stop();
    },
  };
}

/** A fresh database with an open pool that ignores lost connections. `close` also drops the database. */
export async function openTestDatabase(poolMax = 5) {
  const database = await createTestDatabase();
  const { connection } = database;
  const db = openDatabase({ connection, poolMax, onError: () => {}, statementMsMax });
  const close = async () => {
    await db.destroy();
    await database.drop();
  };
  return { database, connection, db, close };
}

async function findAdmin(): Promise<pg.ClientConfig> {
  const shared = process.env[sharedVariable];
  if (shared) return JSON.parse(shared) as pg.ClientConfig;
  own ??= startCluster();
  return (await own).admin;
}
