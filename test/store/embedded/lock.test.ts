import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { hold } from '../../../src/store/embedded/lock.ts';
import { newDirectory } from './start-and-kill.ts';

test('a lock that cannot be taken, whatever is in the way, is named', async (t) => {
  const directory = await newDirectory(t);
  // As a full disk does, this lets SQLite open the file and fail at the first statement.
  const lock = join(directory, 'lock');
  await writeFile(lock, 'this is no database, and long enough to be looked at as one'.repeat(20));
  assert.throws(() => hold(directory, 'starting'), {
    name: 'StartupFailure',
    message: new RegExp(`${lock} `),
  });
  await rm(lock);

  const pid = join(directory, 'pid');
  await mkdir(pid);
  assert.throws(() => hold(directory, 'starting'), {
    name: 'StartupFailure',
    message: new RegExp(`${pid} `),
  });
  await rm(pid, { recursive: true });
  hold(directory, 'starting').release();
});

test('whoever finds it held is told by whom and as what, and leaves it as it is', async (t) => {
  const directory = await newDirectory(t);
  const heldAs = (as: string) => ({
    name: 'StartupFailure',
    holder: { pid: `${process.pid}`, as },
  });
  const lock = hold(directory, 'starting');
  assert.throws(() => hold(directory, 'command'), heldAs('starting'));
  lock.become('serving');
  assert.throws(() => hold(directory, 'command'), heldAs('serving'));
  assert.deepEqual((await readdir(directory)).toSorted(), ['lock', 'pid']);
  lock.release();
  // What a killed one left says nothing.
  await writeFile(join(directory, 'pid'), '1\nserving\n');
  hold(directory, 'command').release();
});
