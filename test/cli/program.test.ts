import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { inherited } from '../../harness/environment.ts';
import { readPostmaster } from '../../src/db/embedded/postmaster.ts';

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
let directory = '';
let dataDir = '';

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'program-test-'));
  await chmod(directory, 0o755);
  dataDir = join(directory, 'data');
});
after(async () => {
  const remaining = await readPostmaster(join(dataDir, 'postgres')).catch(() => null);
  if (remaining) process.kill(remaining.pid, 'SIGKILL');
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

test('start prints its URL and leaves no files after SIGTERM', async (t) => {
  // Uses the installed packages, not the bundle of the tests.
  const cueline = run(t, 'start', { NODE_OPTIONS: '' });
  const url = await cueline.said(/http:\/\/127\.0\.0\.1:\d+/);
  assert.equal((await fetch(`${url}/api/v1/agents/x/executions`)).status, 401);
  assert.ok((await cueline.said(/Data +(\S+)/)).endsWith(dataDir));
  await cueline.said(/Owner +\S+@\S+\n +Password +\S{10}/);

  const second = run(t, 'start');
  assert.equal(await second.exit, 1);
  assert.match(second.stderr, new RegExp(`Another Cueline \\(pid ${cueline.process.pid}\\)`));
  assert.equal(second.stdout, '');

  const concurrent = run(t, 'migrate');
  assert.equal(await concurrent.exit, 0, concurrent.stderr);

  cueline.process.kill('SIGTERM');
  assert.equal(await cueline.exit, 0, cueline.stderr);
  assert.equal(await readPostmaster(join(dataDir, 'postgres')), null);
  assert.ok(!(await readdir(dataDir)).includes('pid'));
});

test('a worker and an API start and stop alike', async (t) => {
  for (const role of ['worker', 'api']) {
    const cueline = run(t, role);
    await cueline.said(/Cueline (executes|serves the API)\./);
    assert.doesNotMatch(cueline.stdout, /Password/);
    cueline.process.kill('SIGINT');
    assert.equal(await cueline.exit, 0, cueline.stderr);
  }
});

test('a shutdown request during startup exits in order', async (t) => {
  const cueline = run(t, 'start', {
    DATABASE_URL: nowhere,
    CUELINE_SECRET: 'a secret that only this test knows of',
  });
  await cueline.said(/waiting for the database at 127\.0\.0\.1:1\/db/);
  cueline.process.kill('SIGTERM');
  assert.equal(await cueline.exit, 0);
  assert.ok(!`${cueline.stderr}${cueline.stdout}`.includes('hunter2'));
});

test('a port in use is named, nothing keeps running, and the credentials are printed', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  const fresh = join(dataDir, 'first');
  const cueline = run(t, 'api', { PORT: String(port), CUELINE_DATA_DIR: fresh });
  assert.equal(await cueline.exit, 1);
  assert.match(cueline.stderr, new RegExp(`cueline: .*port ${port} of 127.0.0.1 is in use`));
  assert.match(cueline.stdout, /Owner .*@.*\n +Password .*shown once.*\n +Key +cue_\w+/);
  assert.equal(await readPostmaster(join(fresh, 'postgres')), null);
});

test('a configuration error is printed without a stack trace', async (t) => {
  const cases: [string, Record<string, string>, RegExp][] = [
    ['start', { PORT: 'x', CUELINE_SLOTS: '0' }, /PORT is "x".*\n.*CUELINE_SLOTS is "0"/],
    ['start', { DATABASE_URL: nowhere }, /CUELINE_SECRET is missing/],
    ['start', { CUELINE_DATA_DIR: main }, /data directory .*main\.ts cannot be used/],
    [
      'start',
      { CUELINE_DATA_DIR: join(dataDir, 'fresh'), CUELINE_MIGRATE: 'manual' },
      /lacks migrations/,
    ],
    ['nonsense', {}, /unknown command 'nonsense'/],
  ];
  for (const [command, env, expected] of cases) {
    const cueline = run(t, command, env);
    assert.equal(await cueline.exit, 1);
    assert.match(cueline.stderr, expected);
    assert.doesNotMatch(cueline.stderr, /^ +at /m);
  }
});

const nowhere = 'postgres://cueline:hunter2@127.0.0.1:1/db';

interface Running {
  readonly process: ChildProcess;
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: Promise<number | null>;
  /** Resolves with the match once the output contains it. */
  said(what: RegExp): Promise<string>;
}

/** Starts the program as a user would, with only the given environment. */
function run(t: TestContext, command: string, env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [main, command], {
    cwd: directory,
    env: { ...inherited('/usr/bin:/bin'), PORT: '0', CUELINE_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const text = { stdout: '', stderr: '' };
  let heard = () => {};
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
      heard();
    });
  }
  const exit = once(child, 'close').then(([code]) => code);
  return {
    process: child,
    exit,
    get stdout() {
      return text.stdout;
    },
    get stderr() {
      return text.stderr;
    },
    async said(what) {
      for (;;) {
        const match = what.exec(text.stdout) ?? what.exec(text.stderr);
        if (match) return match[0];
        const news = new Promise<void>((resolve) => {
          heard = resolve;
        });
        const ended = exit.then((code) => assert.fail(`ended with ${code}: ${text.stderr}`));
        await Promise.race([news, ended]);
      }
    },
  };
}
