import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/**
 * Databases as earlier versions left them, each killed while it worked: `test/db/states/NAME.sql.gz`, written by
 * `pg_dump --inserts` without comments. `0793ab16` has some of everything: executions that are live, ended, failed and
 * canceled, runs of workflows and batches that have ended and that have not, deliveries, and what owners set up.
 */

const root = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** The key of the state `0793ab16`, with every permission. */
export const stateKey = 'cue_4gQ96ARm4LlIJIotLkCuTDBtAo98zm4Tj7tb';

export async function restoreState(name: string): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await loadState(database.connection, name);
  return database;
}

/** Replaces what the database has. */
export async function loadState(connection: pg.ClientConfig, name: string): Promise<void> {
  const file = join(root, 'test/db/states', `${name}.sql.gz`);
  const dump = gunzipSync(await readFile(file)).toString();
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(`drop schema public cascade; create schema public; ${dump}`);
  await client.end();
}

export interface Sources {
  /** The program, to be run by Node. */
  readonly main: string;
  remove(): Promise<void>;
}

/** The sources of an earlier commit, with the packages of this one; null in a clone without history. */
export async function sourcesOf(commit: string): Promise<Sources | null> {
  try {
    await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root });
  } catch {
    return null;
  }
  const directory = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  const archive = join(directory, 'sources.tar');
  await run('git', ['archive', '-o', archive, commit, 'package.json', 'src'], { cwd: root });
  await run('tar', ['-xf', archive, '-C', directory]);
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  return {
    main: join(directory, 'src/main.ts'),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Resolves once every execution, workflow run and batch of the database has ended. */
export async function allEnded(db: Db): Promise<void> {
  const open = async () => {
    const { rows } = await sql<{ open: number }>`
      select (select count(*) from execution_queue)
        + (select count(*) from workflow_runs where status = 'processing')
        + (select count(*) from batches where completed_at is null) as open`.execute(db);
    return rows[0]?.open;
  };
  while ((await open()) !== 0) await wait(50);
}
