import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { acquireLock } from '../../../src/db/embedded/lock.ts';
import { newDirectory } from './start-and-kill.ts';

test('the error names an unusable lock file', async (t) => {
  const directory = await newDirectory(t);
  // Like a full disk: SQLite opens the file and fails at the first statement.
  const lock = join(directory, 'lock');
  await writeFile(lock, 'not a database, and long enough to be read as one'.repeat(20));
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

test('a locked directory reports its owner and state, and stays unchanged', async (t) => {
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
  // The file of a killed owner is ignored.
  await writeFile(join(directory, 'pid'), '1\nserving\n');
  acquireLock(directory, 'command').release();
});
