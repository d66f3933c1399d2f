import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { hasEnded } from '../../../harness/process.ts';
import { startEmbedded } from '../../../src/db/embedded/embedded.ts';
import { readPostmaster } from '../../../src/db/embedded/postmaster.ts';

/**
 * A data directory with an existing database, shared by the sequential tests of a file. Each test must leave it usable.
 */
export function usedDirectory(): () => string {
  let directory = '';
  before(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'embedded-test-')));
    await chmod(directory, 0o755);
    await (await startEmbedded({ dataDir: directory })).stop();
  });
  after(() => remove(directory));
  return () => directory;
}

/** An empty directory for one test. Its removal also kills a PostgreSQL that a failed test left running. */
export async function newDirectory(t: TestContext): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'embedded-test-')));
  await chmod(directory, 0o755);
  t.after(() => remove(directory));
  return directory;
}

async function remove(directory: string): Promise<void> {
  const remaining = await readPostmaster(join(directory, 'postgres')).catch(() => null);
  if (remaining && remaining.pid < 2_147_483_647) killHard(remaining.pid);
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

interface Said {
  readonly connection?: pg.ClientConfig;
  readonly failed?: string;
}

/** Starts a process that starts PostgreSQL like Cueline, prints the result and stays alive. */
export function startCueline(
  t: TestContext,
  dataDir: string,
  {
    role = 'server',
    account,
  }: { role?: 'server' | 'command'; account?: { uid: number; gid: number } } = {},
) {
  const module = new URL('../../../src/db/embedded/embedded.ts', import.meta.url).href;
  const source = `
    import { startEmbedded } from ${JSON.stringify(module)};
    const say = (word) => console.log(JSON.stringify(word));
    try {
      const { connection } = await startEmbedded({ dataDir: process.argv[1], role: process.argv[2] });
      say({ connection });
      setInterval(() => {}, 1000);
    } catch (error) { say({ failed: error.message }); }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source, dataDir, role], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...account,
  });
  const kill = () => end(child);
  t.after(kill);
  return { kill, pid: child.pid, said: firstLine(child) };
}

async function firstLine(child: ChildProcess): Promise<Said> {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += chunk;
    if (text.includes('\n')) return JSON.parse(text);
  }
  return { failed: 'the process printed nothing' };
}

/** Kills the process with SIGKILL, so that it releases nothing itself. */
async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

export async function postmasterPid(dataDir: string): Promise<number> {
  const postmaster = await readPostmaster(join(dataDir, 'postgres'));
  assert.ok(postmaster);
  return postmaster.pid;
}

/** Creates a table with one row. */
export async function writeRow(connection: pg.ClientConfig): Promise<void> {
  await query(
    connection,
    'drop table if exists test_rows; create table test_rows as select 1 as line',
  );
}

export async function query(connection: pg.ClientConfig, text: string): Promise<unknown[]> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Retries until the attempt succeeds. The timeout of the test runner limits it. */
export async function persist<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await delay(20);
    }
  }
}
