import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findEmbedded, joinEmbedded, startEmbedded } from '../../../src/db/embedded/embedded.ts';
import { acquireLock } from '../../../src/db/embedded/lock.ts';
import { readPostmaster } from '../../../src/db/embedded/postmaster.ts';
import { postmasterPid, query, startCueline, usedDirectory } from './start-and-kill.ts';

/** Which process waits, which one joins the database of another, and what happens when one is killed. */

const used = usedDirectory();

for (const [newcomer, open] of [
  ['a command', joinEmbedded],
  ['a server', startEmbedded],
] as const) {
  test(`${newcomer} waits for a command, and then starts its own database`, async (t) => {
    const dataDir = used();
    const command = startCueline(t, dataDir, { role: 'command' });
    assert.ok((await command.said).connection);
    const firstPostmaster = await postmasterPid(dataDir);
    const waiting = Promise.withResolvers<string>();
    const opening = open({ dataDir, onWait: waiting.resolve });
    assert.match(await waiting.promise, new RegExp(`^the command \\(pid ${command.pid}\\)`));
    await command.kill();

    const { connection, stop } = await opening;
    t.after(stop);
    assert.notEqual(await postmasterPid(dataDir), firstPostmaster);
    await query(connection, 'select');
    await stop();
    assert.equal(await readPostmaster(join(dataDir, 'postgres')), null);
  });
}

test('a command waits for a starting server, and does not stop its database', async (t) => {
  const dataDir = used();
  const server = await startEmbedded({ dataDir });
  t.after(server.stop);
  const publish = (state: string) => writeFile(join(dataDir, 'pid'), `${process.pid}\n${state}\n`);
  await publish('starting');
  const waiting = Promise.withResolvers<string>();
  const opening = joinEmbedded({ dataDir, onWait: waiting.resolve });
  assert.match(await waiting.promise, new RegExp(`^the server \\(pid ${process.pid}\\)`));
  await publish('serving');

  const { connection, stop } = await opening;
  assert.deepEqual(connection, server.connection);
  await stop();
  assert.deepEqual(await findEmbedded(dataDir), server.connection);
});

test('a command does not join the orphaned database of a killed server', async (t) => {
  const dataDir = used();
  const server = startCueline(t, dataDir);
  assert.ok((await server.said).connection);
  const remaining = await postmasterPid(dataDir);
  await server.kill();
  const { stop } = await joinEmbedded({ dataDir });
  t.after(stop);
  assert.notEqual(await postmasterPid(dataDir), remaining);
});

test('a wait can be aborted', async () => {
  const dataDir = used();
  const lock = acquireLock(dataDir, 'command');
  try {
    const ending = new AbortController();
    const onWait = () => ending.abort();
    const opening = startEmbedded({ dataDir, signal: ending.signal, onWait });
    await assert.rejects(opening, { name: 'AbortError' });
  } finally {
    lock.release();
  }
});
