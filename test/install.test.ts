import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');

/** A clone after the download of its packages. */
async function createClone(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  t.after(() => rm(folder, { recursive: true }));
  const build = { 'dashboard/build.ts': 'console.log("built")', 'package.json': '{}' };
  for (const [name, text] of Object.entries({ ...build, ...files })) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  await cp(join(root, 'dashboard/prepare.js'), join(folder, 'dashboard/prepare.mjs'));
  return async (userAgent: string) => {
    const env = { npm_config_user_agent: userAgent };
    const run = promisify(execFile);
    return run(process.execPath, ['dashboard/prepare.mjs'], { cwd: folder, env }).then(
      ({ stdout }) => stdout.trim(),
      ({ stderr }) => stderr.trim(),
    );
  };
}

const vite = (source: string) => ({
  'node_modules/vite/package.json': '{"type": "module", "main": "index.js"}',
  'node_modules/vite/index.js': source,
});

test('an install without the development packages says which command brings them', async (t) => {
  const prepare = await createClone(t, {});
  const sentence = 'cueline: The development packages are missing: run "npm ci --include=dev".';
  assert.equal(await prepare('npm/10.2.3 node/v20.10.0 linux x64'), sentence);
  const prepareBuilt = await createClone(t, { 'dist/main.js': '' });
  assert.equal(await prepareBuilt('npm/10.2.3 node/v20.10.0 linux x64'), '');
});

test('an install on a Node for which packages are left out names those that work', async (t) => {
  const prepare = await createClone(t, vite('throw new Error("no native binding")'));
  for (const version of ['18.20.0', '20.10.0', '20.18.1', '21.7.0', '22.11.0']) {
    assert.equal(
      await prepare(`npm/10.2.3 node/v${version} linux x64`),
      `cueline: Packages are missing that Node ${version} does not run: run "npm ci" on Node 20.19, 22.12, 24 or later.`,
    );
  }
  for (const version of ['20.19.0', '22.12.0', '23.1.0', '24.0.0', '26.10.0']) {
    assert.match(await prepare(`npm/10.9.0 node/v${version} linux x64`), /no native binding/);
  }
});

test('the build runs on whatever Node has all packages', async (t) => {
  const prepare = await createClone(t, vite(''));
  assert.equal(await prepare('npm/10.2.3 node/v20.10.0 linux x64'), 'built');
});

test('package.json names the versions of Node that the build needs', async () => {
  const manifest = async (folder: string) =>
    JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
  const { engines, devEngines } = await manifest('.');
  assert.equal(engines.node, (await manifest('node_modules/vite')).engines.node);
  assert.equal(devEngines.runtime.version, engines.node);
});
