import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { acquireLock } from '../../../src/store/embedded/lock.ts';
import { readPostmaster } from '../../../src/store/embedded/postmaster.ts';
import { findEmbedded, joinEmbedded, startEmbedded } from '../../../src/store/embedded.ts';
import { postmasterPid, query, startCueline, usedDirectory } from './start-and-kill.ts';

/** Who waits for whom, who uses whose database, and what stays of it when one of them is killed. */

const used = usedDirectory();

for (const [comer, open] of [
  ['a command', joinEmbedded],
  ['a server', startEmbedded],
] as const) {
  test(`${comer} waits for a command, and has a database that does not end with it`, async (t) => {
    const dataDir = used();
    const command = startCueline(t, dataDir, { role: 'command' });
    assert.ok((await command.said).connection);
    const itsPostmaster = await postmasterPid(dataDir);
    const waiting = Promise.withResolvers<string>();
    const opening = open({ dataDir, onWait: waiting.resolve });
    assert.match(await waiting.promise, new RegExp(`^the command \\(pid ${command.pid}\\)`));
    await command.kill();

    const { connection, stop } = await opening;
    t.after(stop);
    assert.notEqual(await postmasterPid(dataDir), itsPostmaster);
    await query(connection, 'select');
    await stop();
    assert.equal(await readPostmaster(join(dataDir, 'postgres')), null);
  });
}

test('a command waits for a server that is starting, and leaves its database to it', async (t) => {
  const dataDir = used();
  const server = await startEmbedded({ dataDir });
  t.after(server.stop);
  const tell = (as: string) => writeFile(join(dataDir, 'pid'), `${process.pid}\n${as}\n`);
  await tell('starting');
  const waiting = Promise.withResolvers<string>();
  const opening = joinEmbedded({ dataDir, onWait: waiting.resolve });
  assert.match(await waiting.promise, new RegExp(`^the server \\(pid ${process.pid}\\)`));
  await tell('serving');

  const { connection, stop } = await opening;
  assert.deepEqual(connection, server.connection);
  await stop();
  assert.deepEqual(await findEmbedded(dataDir), server.connection);
});

test('a command never uses what a killed server left running', async (t) => {
  const dataDir = used();
  const server = startCueline(t, dataDir);
  assert.ok((await server.said).connection);
  const left = await postmasterPid(dataDir);
  await server.kill();
  const { stop } = await joinEmbedded({ dataDir });
  t.after(stop);
  assert.notEqual(await postmasterPid(dataDir), left);
});

test('who waits can be told to end', async () => {
  const dataDir = used();
  const held = acquireLock(dataDir, 'command');
  try {
    const ending = new AbortController();
    const onWait = () => ending.abort();
    const opening = startEmbedded({ dataDir, signal: ending.signal, onWait });
    await assert.rejects(opening, { name: 'AbortError' });
  } finally {
    held.release();
  }
});
