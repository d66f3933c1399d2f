import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createTestDatabase, shareCluster, type TestDatabase } from '../harness/database.ts';
import { type Generator, startGenerator } from './load/generator.ts';
import { parentOf } from './usage.ts';

/**
 * Shared by all contenders of a benchmark: one PostgreSQL with the embedded settings and a higher `max_connections`, one
 * load generator, a folder for logs.
 */
export interface BenchEnvironment {
  readonly generator: Generator;
  /** Where servers write their logs. */
  readonly directory: string;
  /** The parent of all PostgreSQL processes. */
  readonly postmaster: number;
  /** A fresh database with Cueline's schema. */
  database(): Promise<TestDatabase>;
  /** An empty database. */
  emptyDatabase(): Promise<TestDatabase>;
  /** Queries as the superuser. */
  ask<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]>;
  close(): Promise<void>;
}

export async function openEnvironment({
  statements,
}: {
  statements: boolean;
}): Promise<BenchEnvironment> {
  const directory = await mkdtemp(join(tmpdir(), 'cueline-bench-'));
  await chmod(directory, 0o755);
  const preload = { shared_preload_libraries: 'pg_stat_statements' };
  const cluster = await shareCluster({ durable: true, settings: statements ? preload : {} });
  const admin = new pg.Client(cluster.admin);
  await admin.connect();
  const generator = startGenerator();
  const ask = async <Row extends pg.QueryResultRow>(statement: string) =>
    (await admin.query<Row>(statement)).rows;
  if (statements) await ask('create extension pg_stat_statements');
  const [backend] = await ask<{ pid: number }>('select pg_backend_pid() as pid');
  let databases = 0;
  return {
    generator,
    directory,
    postmaster: parentOf(backend?.pid ?? 0),
    database: createTestDatabase,
    async emptyDatabase() {
      const name = `peer_${databases++}`;
      await ask(`create database ${name} owner cueline`);
      return {
        connection: { ...cluster.admin, user: 'cueline', database: name },
        drop: async () => void (await ask(`drop database ${name} with (force)`)),
      };
    },
    ask,
    async close() {
      generator.close();
      await admin.end();
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
