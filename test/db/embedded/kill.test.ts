import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { accountFor } from '../../../src/db/embedded/account.ts';
import { startEmbedded } from '../../../src/db/embedded/embedded.ts';
import {
  persist,
  postmasterPid,
  query,
  startCueline,
  usedDirectory,
  writeRow,
} from './start-and-kill.ts';

const used = usedDirectory();

test('PostgreSQL is killed: it restarts with the same connection settings', async (t) => {
  const dataDir = used();
  const { connection, onExit, stop } = await startEmbedded({ dataDir });
  t.after(stop);
  await writeRow(connection);
  const exited = new Promise<string>(onExit);
  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    const pid = await postmasterPid(dataDir);
    process.kill(pid, signal);
    await persist(async () => {
      assert.notEqual(await postmasterPid(dataDir), pid);
      assert.deepEqual(await query(connection, 'select line from test_rows'), [{ line: 1 }]);
    });
  }
  assert.equal(await exited, 'signal SIGKILL');
});

test('Cueline is killed: the next start stops the orphaned PostgreSQL', async (t) => {
  const dataDir = used();
  const cueline = startCueline(t, dataDir);
  const { connection } = await cueline.said;
  assert.ok(connection);
  await writeRow(connection);
  const pid = await postmasterPid(dataDir);
  await cueline.kill();
  assert.deepEqual(await query(connection, 'select line from test_rows'), [{ line: 1 }]);

  const { stop, ...next } = await startEmbedded({ dataDir });
  t.after(stop);
  assert.notEqual(await postmasterPid(dataDir), pid);
  assert.deepEqual(await query(next.connection, 'select line from test_rows'), [{ line: 1 }]);
});

test('both are killed: the next start recovers', async (t) => {
  const dataDir = used();
  const cueline = startCueline(t, dataDir);
  const { connection } = await cueline.said;
  assert.ok(connection);
  await writeRow(connection);
  const pid = await postmasterPid(dataDir);
  await cueline.kill();
  process.kill(pid, 'SIGKILL');

  const { stop, ...next } = await startEmbedded({ dataDir });
  t.after(stop);
  assert.deepEqual(await query(next.connection, 'select line from test_rows'), [{ line: 1 }]);
});

test('another process reuses the pid of a dead PostgreSQL: it is not stopped', async (t) => {
  const dataDir = used();
  const first = await startEmbedded({ dataDir });
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
  const text = await readFile(pidFile, 'utf8');
  await first.stop();
  const account = await accountFor(join(dataDir, 'postgres'));
  const stranger = spawn('sleep', ['1000'], { stdio: 'ignore', cwd: '/', ...account });
  t.after(() => stranger.kill('SIGKILL'));
  await writeFile(pidFile, text.replace(/^\d+/, String(stranger.pid)));
  if (account) await chown(pidFile, account.uid, account.gid);

  const second = await startEmbedded({ dataDir });
  t.after(() => second.stop());
  await query(second.connection, 'select');
  assert.equal(stranger.exitCode ?? stranger.signalCode, null);
});
