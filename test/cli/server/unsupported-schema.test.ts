import assert from 'node:assert/strict';
import { chmod, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadState, restoreState } from '../../../harness/states.ts';
import { startEmbedded } from '../../../src/db/embedded/embedded.ts';
import { cueline, onDatabase } from '../cueline.ts';

const states =
  'only databases of Cueline 0.2.0 and later, or of development versions from commit 0793ab16 (28 November 2026) on, can';

test('data that cannot be upgraded is refused with the real path of its directory', async (t) => {
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'cueline-test-'));
  await chmod(directory, 0o755);
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  const dataDir = join(directory, 'real');
  const embedded = await startEmbedded({ dataDir });
  await loadState(embedded.connection, '0.1.0').finally(embedded.stop);
  await symlink(dataDir, join(directory, 'link'));
  const { code, stderr } = await cueline(['start'], { CUELINE_DATA_DIR: join(directory, 'link') });
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `cueline: The database in ${dataDir} cannot be upgraded because it was written by an earlier version, and ${states}: move the directory ${dataDir} away.\n`,
  );
});

test('of a database elsewhere, the host and the name are given', async (t) => {
  const { connection, drop } = await restoreState('0.1.0');
  t.after(drop);
  const env = { ...onDatabase(connection), CUELINE_SECRET: 'a secret that is used only by tests' };
  for (const command of ['migrate', 'start']) {
    const { code, stderr } = await cueline([command], env);
    assert.equal(code, 1);
    const sentence = `The database localhost/${connection.database} cannot be upgraded because it was written by an earlier version, and ${states}: let DATABASE_URL name an empty database.`;
    assert.equal(stderr, `cueline: ${sentence}\n`);
  }
});
