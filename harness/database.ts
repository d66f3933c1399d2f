import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { type Cluster, runAsAdmin, startCluster, template } from './cluster.ts';

/** A fresh, migrated database. */
export interface TestDatabase {
  readonly connection: pg.ClientConfig;
  drop(): Promise<void>;
}

/** Where the global setup tells each test file of its PostgreSQL. */
export const addressVariable = 'CUELINE_TEST_POSTGRES';

/** A file that is run without the global setup starts a PostgreSQL itself, and ends it with its last database. */
let own: Promise<Cluster> | null = null;
let databases = 0;

export async function createTestDatabase(): Promise<TestDatabase> {
  databases++;
  const admin = await findAdmin();
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Page by page through the log, as by default, it takes five times as long.
  const copied = `template ${template} strategy file_copy`;
  await runAsAdmin(admin, `create database ${name} ${copied} owner cueline`);
  return {
    connection: { ...admin, user: 'cueline', database: name },
    async drop() {
      await runAsAdmin(admin, `drop database ${name} with (force)`);
      if (--databases > 0 || own === null) return;
      const { stop } = await own;
      own = null;
      await stop();
    },
  };
}

async function findAdmin(): Promise<pg.ClientConfig> {
  const address = process.env[addressVariable];
  if (address) return JSON.parse(address) as pg.ClientConfig;
  own ??= startCluster();
  return (await own).admin;
}
