import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { accountFor } from '../../../src/store/embedded/account.ts';
import { startEmbedded } from '../../../src/store/embedded.ts';
import {
  keepLine,
  persist,
  postmasterPid,
  query,
  startCueline,
  usedDirectory,
} from './start-and-kill.ts';

const used = usedDirectory();

test('PostgreSQL alone ends: it comes back, on the same connection', async (t) => {
  const dataDir = used();
  const { connection, onExit, stop } = await startEmbedded({ dataDir });
  t.after(stop);
  await keepLine(connection);
  const told = new Promise<string>(onExit);
  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    const pid = await postmasterPid(dataDir);
    process.kill(pid, signal);
    await persist(async () => {
      assert.notEqual(await postmasterPid(dataDir), pid);
      assert.deepEqual(await query(connection, 'select line from kept'), [{ line: 1 }]);
    });
  }
  assert.equal(await told, 'signal SIGKILL');
});

test('Cueline alone is killed: the next start ends what it left running', async (t) => {
  const dataDir = used();
  const cueline = startCueline(t, dataDir);
  const { connection } = await cueline.said;
  assert.ok(connection);
  await keepLine(connection);
  const pid = await postmasterPid(dataDir);
  await cueline.kill();
  assert.deepEqual(await query(connection, 'select line from kept'), [{ line: 1 }]);

  const { stop, ...next } = await startEmbedded({ dataDir });
  t.after(stop);
  assert.notEqual(await postmasterPid(dataDir), pid);
  assert.deepEqual(await query(next.connection, 'select line from kept'), [{ line: 1 }]);
});

test('everything is killed: the next start recovers', async (t) => {
  const dataDir = used();
  const cueline = startCueline(t, dataDir);
  const { connection } = await cueline.said;
  assert.ok(connection);
  await keepLine(connection);
  const pid = await postmasterPid(dataDir);
  await cueline.kill();
  process.kill(pid, 'SIGKILL');

  const { stop, ...next } = await startEmbedded({ dataDir });
  t.after(stop);
  assert.deepEqual(await query(next.connection, 'select line from kept'), [{ line: 1 }]);
});

test('the number of a dead PostgreSQL went to another process, which is left alone', async (t) => {
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
