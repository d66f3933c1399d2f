import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { inherited } from '../../../harness/environment.ts';

const main = join(import.meta.dirname, '../../../src/main.ts');

/** In a mount namespace of its own, so that nothing is left behind. */
const mayMount = (() => {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

test('a read-only disk is named as such, whether the data directory exists or not', {
  skip: !mayMount && 'this account may not mount',
}, async (t) => {
  const disk = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  t.after(() => rm(disk, { recursive: true }));
  const mounted = `
    mount -t tmpfs tmpfs ${disk} && mkdir ${disk}/existing && mount -o remount,ro ${disk} &&
    cd ${disk} && CUELINE_DATA_DIR=$1 exec ${process.execPath} ${main} start`;
  for (const [dataDir, folder] of [
    [`${disk}/existing`, `${disk}/existing`],
    [`${disk}/new/folder`, `${disk}/new/folder`],
    ['.cueline', `${disk}/.cueline`],
  ]) {
    const args = ['--mount', 'sh', '-c', mounted, 'sh', dataDir ?? ''];
    await assert.rejects(promisify(execFile)('unshare', args, { env: inherited() }), {
      code: 1,
      stderr: `cueline: ${folder} is on a read-only disk: let CUELINE_DATA_DIR name a folder on another disk, or set DATABASE_URL.\n`,
    });
  }
});
