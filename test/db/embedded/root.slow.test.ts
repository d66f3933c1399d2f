import assert from 'node:assert/strict';
import { chmod, chown, cp, realpath, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { accountFor, canEnter } from '../../../src/db/embedded/account.ts';
import { packagedNative } from '../../../src/db/embedded/binaries.ts';
import { findEmbedded, startEmbedded } from '../../../src/db/embedded/embedded.ts';
import { newDirectory, query, startCueline, writeRow } from './start-and-kill.ts';

const root = process.getuid?.() === 0;

test('as root, below directories that only root can enter', { skip: !root }, async (t) => {
  const [closed, sharedDir] = [await newDirectory(t), await newDirectory(t)];
  await chmod(closed, 0o700);
  await chmod(sharedDir, 0o755);
  // The programs are below a closed directory, as in /root/cueline/node_modules.
  await symlink(packagedNative(), join(closed, 'native'));
  await cp(join(packagedNative(), '..', 'package.json'), join(closed, 'package.json'));
  const dataDir = join(closed, 'data');
  const options = { dataDir, sharedDir, native: join(closed, 'native') };
  const first = await startEmbedded(options);
  await writeRow(first.connection);
  await first.stop();
  const second = await startEmbedded(options);
  t.after(() => second.stop());
  assert.deepEqual(await query(second.connection, 'select line from test_rows'), [{ line: 1 }]);
  assert.deepEqual(await findEmbedded(dataDir), second.connection);
  assert.equal(
    dirname(dirname(await realpath(join(dataDir, 'postgres')))),
    await realpath(sharedDir),
  );

  // A copy of the data directory links to the same cluster, which only one process can own.
  await cp(dataDir, join(closed, 'copy'), { recursive: true, verbatimSymlinks: true });
  await assert.rejects(
    startEmbedded({ ...options, dataDir: join(closed, 'copy') }),
    /Another Cueline/,
  );
  await second.stop();
  await rm(sharedDir, { recursive: true });
  await assert.rejects(startEmbedded(options), { name: 'StartupFailure' });
});

test('as root, with a data directory that root copied', { skip: !root }, async (t) => {
  const dataDir = await newDirectory(t);
  await (await startEmbedded({ dataDir })).stop();
  const copy = await newDirectory(t);
  await cp(dataDir, copy, { recursive: true });
  assert.equal((await stat(join(copy, 'postgres'))).uid, 0);
  const { connection, stop } = await startEmbedded({ dataDir: copy });
  t.after(stop);
  await query(connection, 'select');
});

test('as an unprivileged user', { skip: !root }, async (t) => {
  const account = await accountFor('/nowhere');
  assert.ok(account);
  if (!(await canEnter(account, import.meta.dirname))) return t.skip('sources out of reach');
  const dataDir = await newDirectory(t);
  await chown(dataDir, account.uid, account.gid);
  const cueline = startCueline(t, dataDir, { account });
  const { connection } = await cueline.said;
  assert.ok(connection);
  assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }]);
  assert.equal((await stat(join(dataDir, 'postgres.password'))).uid, account.uid);
  await cueline.kill();
  // Root then runs PostgreSQL as that user.
  const { stop } = await startEmbedded({ dataDir });
  await stop();
  const again = await startCueline(t, dataDir, { account }).said;
  assert.equal(again.failed, undefined);
  assert.ok(again.connection);
});
