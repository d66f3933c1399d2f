import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { inherited } from '../../../harness/environment.ts';
import { cueline, jsonLines } from '../cueline.ts';

/** `cueline backup` and `cueline restore`, on a server that accepts calls meanwhile. */

const main = join(import.meta.dirname, '../../../src/main.ts');
let directory = '';
const path = (name: string) => join(directory, name);

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  await chmod(directory, 0o755);
});
after(() => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));

async function start(t: TestContext, dataDir: string) {
  const child = spawn(process.execPath, ['--no-memory-reducer', main, 'start'], {
    env: { ...inherited(), CUELINE_DATA_DIR: dataDir, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    said += chunk;
    if (said.includes('Ctrl-C')) break;
  }
  const text = (pattern: RegExp) => pattern.exec(said)?.[0] ?? '';
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  return { url: text(/http:\/\/[\d.:]+/), agentId: text(/agt_\w+/), stop };
}

test('a backup of a busy server restores what was accepted before, with its secret', async (t) => {
  const original = path('original');
  const { url, agentId, stop } = await start(t, original);
  const env = { CUELINE_DATA_DIR: original };
  const unlimited = ['minute', 'hour', 'day'].flatMap((window) => [
    `--requests-per-${window}`,
    'none',
  ]);
  const create = ['keys', 'create', '--name', 'Load', '--permission', 'execute,read', '--json'];
  const [{ key }] = jsonLines(await cueline([...create, ...unlimited], env));
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const agent = `/api/v1/agents/${agentId}`;
  const accepted: string[] = [];
  const call = async () => {
    const body = JSON.stringify({ variables: { topic: 'tides' } });
    const response = await fetch(`${url}${agent}/execute`, { method: 'POST', headers, body });
    assert.equal(response.status, 202);
    accepted.push(((await response.json()) as { statusUrl: string }).statusUrl);
  };
  for (let count = 0; count < 20; count++) await call();
  const before = [...accepted];
  let isDone = false;
  const load = (async () => {
    while (!isDone) await call();
  })();
  const file = path('cueline.tar.gz');
  const backup = await cueline(['backup', file], env);
  isDone = true;
  await load;
  assert.deepEqual([backup.code, backup.stdout], [0, ''], backup.stderr);
  assert.match(backup.stderr, /^Backed up .* with its secret: keep .* like a password\.\n$/);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.ok(accepted.length > before.length);
  const again = await cueline(['backup', file], env);
  assert.deepEqual(
    [again.code, again.stderr],
    [1, `cueline: The backup cannot be written to ${file}: it exists.\n`],
  );
  await stop();

  const copy = path('copy');
  const restored = await cueline(['restore', file], { CUELINE_DATA_DIR: copy });
  assert.equal(restored.code, 0, restored.stderr);
  assert.equal(
    await readFile(join(copy, 'secret'), 'utf8'),
    await readFile(join(original, 'secret'), 'utf8'),
  );
  const second = await start(t, copy);
  for (const statusUrl of before) {
    const response = await fetch(`${second.url}${statusUrl}?wait=60`, { headers });
    assert.equal(((await response.json()) as { status: string }).status, 'success');
  }
  await second.stop();
});

test('a restore overwrites nothing, and takes nothing but a backup', async () => {
  const used = path('used');
  const file = path('other');
  await writeFile(file, 'no archive');
  const missing = await cueline(['restore', file], { CUELINE_DATA_DIR: used });
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /^cueline: .*other cannot be restored: incorrect header check\n$/);
  assert.deepEqual(await readdir(used), ['lock']);
  await writeFile(path('cut.tar'), gzipSync(''));
  const empty = await cueline(['restore', path('cut.tar')], { CUELINE_DATA_DIR: used });
  assert.match(empty.stderr, /cannot be restored: it is empty\n$/);
  await writeFile(join(used, 'file'), '');
  const { code, stderr } = await cueline(['restore', file], { CUELINE_DATA_DIR: used });
  assert.equal(code, 1);
  assert.match(stderr, /^cueline: The data directory \/.*used is not empty: move it away, or /);
  assert.deepEqual(await readdir(used), ['file', 'lock']);
});

test('with a database of your own, its programs are named', async () => {
  const env = {
    DATABASE_URL: 'postgres://127.0.0.1:1/db',
    CUELINE_SECRET: 'a secret that is used only by tests',
  };
  for (const [command, program] of [
    ['backup', 'pg_dump'],
    ['restore', 'pg_restore'],
  ] as const) {
    const { code, stderr } = await cueline([command, path('none')], env);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`embedded database: use ${program} of your PostgreSQL`));
  }
});
