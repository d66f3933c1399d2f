import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { acquireLock } from '../../../src/store/embedded/lock.ts';
import { newDirectory } from './start-and-kill.ts';

test('a lock that cannot be taken, whatever is in the way, is named', async (t) => {
  const directory = await newDirectory(t);
  // As a full disk does, this lets SQLite open the file and fail at the first statement.
  const lock = join(directory, 'lock');
  await writeFile(lock, 'this is no database, and long enough to be looked at as one'.repeat(20));
  assert.throws(() => acquireLock(directory, 'starting'), {
    name: 'StartupFailure',
    message: new RegExp(`${lock} `),
  });
  await rm(lock);

  const pid = join(directory, 'pid');
  await mkdir(pid);
  assert.throws(() => acquireLock(directory, 'starting'), {
    name: 'StartupFailure',
    message: new RegExp(`${pid} `),
  });
  await rm(pid, { recursive: true });
  acquireLock(directory, 'starting').release();
});

test('whoever finds it held is told by whom and as what, and leaves it as it is', async (t) => {
  const directory = await newDirectory(t);
  const lockedAs = (state: string) => ({
    name: 'StartupFailure',
    owner: { pid: `${process.pid}`, state },
  });
  const lock = acquireLock(directory, 'starting');
  assert.throws(() => acquireLock(directory, 'command'), lockedAs('starting'));
  lock.setState('serving');
  assert.throws(() => acquireLock(directory, 'command'), lockedAs('serving'));
  assert.deepEqual((await readdir(directory)).toSorted(), ['lock', 'pid']);
  lock.release();
  // What a killed one left says nothing.
  await writeFile(join(directory, 'pid'), '1\nserving\n');
  acquireLock(directory, 'command').release();
});
